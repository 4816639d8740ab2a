const OPEN = '<think>'
const CLOSE = '</think>'

/** Drops the thoughts that local models write before their answer, however the text is cut. */
export function createThoughtFilter() {
  let state: 'start' | 'thinking' | 'answer' = 'start'
  let held = ''

  /** Returns what may be shown. */
  function push(piece: string): string {
    if (state === 'answer') return piece
    held += piece
    if (state === 'start') {
      const begun = held.trimStart()
      if (OPEN.startsWith(begun.slice(0, OPEN.length)) && begun.length < OPEN.length) return ''
      if (!begun.startsWith(OPEN)) {
        state = 'answer'
        return begun
      }
      state = 'thinking'
    }
    const end = held.indexOf(CLOSE)
    if (end === -1) {
      held = held.slice(1 - CLOSE.length)
      return ''
    }
    // More thoughts, or white space, may follow.
    const rest = held.slice(end + CLOSE.length)
    held = ''
    state = 'start'
    return push(rest)
  }

  return {
    push,
    /** What was held back and is no thought. */
    end: () => (state === 'start' ? held.trim() : ''),
  }
}

/** Without the thoughts of a template that opens them itself, so that only their end is sent. */
export function afterThoughts(text: string): string {
  const end = text.lastIndexOf(CLOSE)
  return end === -1 ? text : text.slice(end + CLOSE.length).trimStart()
}
