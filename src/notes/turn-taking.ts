/** Runs work on the same id in order, one at a time; work on different ids runs concurrently. */
export type TurnTaking = <T>(id: string, work: () => Promise<T>) => Promise<T>

export function createTurnTaking(): TurnTaking {
  const last = new Map<string, Promise<unknown>>()
  return (id, work) => {
    const before = last.get(id) ?? Promise.resolve()
    const result = before.then(work, work)
    last.set(id, result)
    const forget = () => {
      if (last.get(id) === result) last.delete(id)
    }
    result.then(forget, forget)
    return result
  }
}
