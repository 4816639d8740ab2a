/** A service outside did not do its part. It is reported as such, and is no failure of the reactor that asked it. */
export class OutsideFailure extends Error {
  override readonly name = 'OutsideFailure'
}
