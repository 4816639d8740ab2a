import { setImmediate as immediate } from 'node:timers/promises'

/**
 * Lets what has arrived meanwhile go first: the event loop belongs to the voice. Twice, for what is set aside once
 * while the loop takes in what arrives is gone on with before it looks again.
 */
export async function giveWay(): Promise<void> {
  await immediate()
  await immediate()
}
