/**
 * The lines of a stream of UTF-8 text, split at line feeds alone: readline would also split at U+2028, which JSON
 * leaves as it is. Only text before a final line feed is a line; an unfinished last one is given as it is. The pieces of
 * a line are put together once, when it is whole: a long one comes in thousands of them.
 */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pieces: string[] = []
  for await (const chunk of chunks) {
    const [end = '', ...lines] = chunk.split('\n')
    pieces.push(end)
    const begun = lines.pop()
    if (begun === undefined) continue
    yield pieces.join('')
    yield* lines
    pieces = [begun]
  }
  const rest = pieces.join('')
  if (rest !== '') yield rest
}
