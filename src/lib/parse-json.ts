/** Parses a message from outside. Null if it is not JSON: its schema refuses null and says what it looks like. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
