/** An external service failed. Reported as such, and not as a failure of the reactor that called it. */
export class OutsideFailure extends Error {
  override readonly name = 'OutsideFailure'
}
