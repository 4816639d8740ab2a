/** Preload: sets the process's clock ahead by `CLOCK_AHEAD_MS`, for what is due only after a while. */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0)

const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...given: readonly unknown[]) {
    const [at = RealDate.now() + aheadMs, ...parts] = given as [number, number]
    super(at, ...parts)
  }
  static override now(): number {
    return RealDate.now() + aheadMs
  }
} as DateConstructor
