/**
 * Splits a stream of UTF-8 text at line feeds. (readline would also split at U+2028, which JSON does not
 * escape.) Includes an unfinished last line. Joins the pieces of a line only once, because a long line comes
 * in thousands of them.
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
