/**
 * The lines of a stream of UTF-8 text, split at line feeds alone: readline would also split at U+2028, which JSON
 * leaves as it is. Only text before a final line feed is a line; an unfinished last one is given as it is.
 */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
