/** A name that is not taken: the wanted one, or the first of "name-2", "name-3" and so on. */
export function freeName(wanted: string, taken: Iterable<string>, separator = '-'): string {
  const names = new Set(taken)
  let name = wanted
  for (let number = 2; names.has(name); number += 1) name = `${wanted}${separator}${number}`
  return name
}
