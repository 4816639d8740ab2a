import type { Figures, Share } from './measure.ts'

/** Adds up figures, field by field. */
export function add(a: Figures, b: Figures): Figures {
  const shares = (x: Share, y: Share): Share => ({ of: x.of + y.of, hits: x.hits + y.hits })
  const faults = { ...a.faults }
  for (const [fault, count] of Object.entries(b.faults) as [keyof typeof faults, number][])
    faults[fault] = (faults[fault] ?? 0) + count
  return {
    known: shares(a.known, b.known),
    precise: shares(a.precise, b.precise),
    doubled: a.doubled + b.doubled,
    faults,
    provisional: {
      right: a.provisional.right + b.provisional.right,
      wrong: a.provisional.wrong + b.provisional.wrong,
    },
    wrongOverrides: a.wrongOverrides + b.wrongOverrides,
    lines: {
      probes: a.lines.probes + b.lines.probes,
      shown: a.lines.shown + b.lines.shown,
      right: a.lines.right + b.lines.right,
    },
    within250: shares(a.within250, b.within250),
    within500: shares(a.within500, b.within500),
    lookedUp: shares(a.lookedUp, b.lookedUp),
    several: shares(a.several, b.several),
    empty: shares(a.empty, b.empty),
    secrets: shares(a.secrets, b.secrets),
    forgottenBack: shares(a.forgottenBack, b.forgottenBack),
    unrelatedLost: a.unrelatedLost + b.unrelatedLost,
    tokens: { probes: a.tokens.probes + b.tokens.probes, sum: a.tokens.sum + b.tokens.sum },
    calibration: [...a.calibration, ...b.calibration],
  }
}
