/** A random id. Plain HTTP is no secure context, so `crypto.randomUUID` may be missing. */
export const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')
