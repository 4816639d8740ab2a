/** Starts reading `source` at once but yields nothing before `ready` resolves. */
export async function* after<T>(ready: Promise<unknown>, source: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    const first = iterator.next()
    // Awaited below, unless `ready` rejects first.
    first.catch(() => undefined)
    await ready
    for (let next = await first; !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}
