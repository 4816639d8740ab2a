/** Begins at once to read, and yields nothing before `ready`; where that is rejected, reading ends with it. */
export async function* after<T>(ready: Promise<unknown>, source: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    const first = iterator.next()
    // Looked at below; where `ready` is rejected, nobody does.
    first.catch(() => undefined)
    await ready
    for (let next = await first; !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}
