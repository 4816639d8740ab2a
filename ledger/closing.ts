/** Closes a database, or anything like it, at the end of the block: `using db = closing(new Database(file))`. */
export function closing<T extends { close(): unknown }>(resource: T): T & Disposable {
  return Object.assign(resource, { [Symbol.dispose]: () => void resource.close() })
}
