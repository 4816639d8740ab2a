/** A step came up again unchanged: taking it once more would change nothing either. */
export class NoProgress extends Error {
  override readonly name = 'NoProgress'
}

/**
 * Guards a loop that takes its next step from a view. Throws NoProgress where a step comes up twice in a row exactly as
 * it was: the view has stalled, or what the step appends is there already. The loop then reports and pauses as after any
 * other fault, instead of spinning. `undefined` starts over: after a fault the same step is due again.
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
