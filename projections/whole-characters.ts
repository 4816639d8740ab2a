/** Drops half a surrogate pair at either end of a piece that was cut out of a text. */
export function wholeCharacters(piece: string): string {
  return piece.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
