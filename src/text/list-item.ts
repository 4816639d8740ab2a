/** The text of a list item, without its marker or checkbox. A number counts as a marker only before a space. */
export function itemIn(line: string): string {
  return line.replace(/^\s*(?:[-*•] ?|\d+[.)] )(?:\[[ x]\] ?)?/, '').trim()
}
