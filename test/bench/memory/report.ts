import type { Figures, Share } from './measure.ts'

const percent = ({ of, hits }: Share) => (of === 0 ? '–' : `${((hits / of) * 100).toFixed(1)} %`)
const ratio = ({ of, hits }: Share) => `${hits} of ${of}`
const mean = (sum: number, count: number) => (count === 0 ? '–' : (sum / count).toFixed(1))

const rows: readonly (readonly [string, (figures: Figures) => string])[] = [
  ['facts known', ({ known }) => `${percent(known)} (${ratio(known)})`],
  ['precision of memories', ({ precise }) => `${percent(precise)} (${ratio(precise)})`],
  ['provisional: right / wrong', ({ provisional }) => `${provisional.right} / ${provisional.wrong}`],
  ['facts stored twice', ({ doubled }) => String(doubled)],
  ['wrong overrides', ({ wrongOverrides }) => String(wrongOverrides)],
  [
    'right lines of those shown',
    ({ lines }) => `${mean(lines.right, lines.probes)} of ${mean(lines.shown, lines.probes)}`,
  ],
  ['probes answered within 250 tokens', ({ within250 }) => `${percent(within250)} (${ratio(within250)})`],
  ['probes answered within 500 tokens', ({ within500 }) => `${percent(within500)} (${ratio(within500)})`],
  ['answered by the `recall` tool', ({ lookedUp }) => `${percent(lookedUp)} (${ratio(lookedUp)})`],
  ['of several sessions, within 250', ({ several }) => `${percent(several)} (${ratio(several)})`],
  ['nothing to find, nothing shown', ({ empty }) => `${percent(empty)} (${ratio(empty)})`],
  ['secrets respected', ({ secrets }) => ratio(secrets)],
  ['forgotten, but back', ({ forgottenBack }) => ratio(forgottenBack)],
  ['unrelated memories lost to a forget', ({ unrelatedLost }) => String(unrelatedLost)],
  ['tokens shown, mean', ({ tokens }) => mean(tokens.sum, tokens.probes)],
]

/** The figures of each mode as tables in Markdown. */
export function report(byMode: ReadonlyMap<string, Figures>): string {
  const modes = [...byMode.keys()]
  const all = [...byMode.values()]
  const faults = [...new Set(all.flatMap((figures) => Object.keys(figures.faults)))].sort()
  return [
    table(
      ['', ...modes],
      rows.map(([name, show]) => [name, ...all.map(show)]),
    ),
    table(
      ['false memories', ...modes],
      faults.map((fault) => [
        fault,
        ...all.map((figures) =>
          String(Object.entries(figures.faults).find(([name]) => name === fault)?.[1] ?? 0),
        ),
      ]),
    ),
    table(
      ['relevance', ...modes.map((mode) => `${mode}: useful lines`)],
      Array.from({ length: 10 }, (_, decile) => [
        `${(decile / 10).toFixed(1)} to ${((decile + 1) / 10).toFixed(1)}`,
        ...all.map((figures) => useful(figures, decile)),
      ]),
    ),
  ].join('\n\n')
}

/** The lines shown whose relevance is within the tenth. */
export function linesOf({ calibration }: Figures, decile: number): Figures['calibration'] {
  return calibration.filter(({ relevance }) => Math.min(9, Math.floor(relevance * 10)) === decile)
}

function useful(figures: Figures, decile: number): string {
  const lines = linesOf(figures, decile)
  return lines.length === 0
    ? '–'
    : `${percent({ of: lines.length, hits: lines.filter(({ isUseful }) => isUseful).length })} of ${lines.length}`
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
