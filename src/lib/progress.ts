/** The same step came up twice. Repeating it would change nothing. */
export class NoProgress extends Error {
  override readonly name = 'NoProgress'
}

/**
 * Guards a loop that takes its next step from a view. Throws NoProgress if a step comes up twice in a row
 * unchanged: the view has stalled, or already has what the step appends. The loop then pauses as after any
 * other fault instead of spinning. `undefined` resets the guard, because the same step is due after a fault.
 */
export function createProgressGuard(): (step: object | undefined) => void {
  let last: string | undefined
  return (step) => {
    const next = step && JSON.stringify(step)
    const isStuck = next !== undefined && next === last
    last = next
    if (isStuck) throw new NoProgress('a step changed nothing, and is due again')
  }
}
