import { defaultMemoryConfig } from '../../../src/memory/config.ts'
import type { Figures } from './measure.ts'
import { linesOf } from './report.ts'

const [LEFT, RIGHT, TOP, BOTTOM] = [60, 620, 40, 340]
const DASHES = ['none', '6 4', '2 4']
const STYLE = `
  svg { background: #fff; color: #333; font: 13px sans-serif; }
  text { fill: currentColor; stroke: none; }
  path { fill: none; stroke: currentColor; }
  circle { fill: currentColor; fill-opacity: 0.3; stroke: currentColor; stroke-dasharray: none; }
  .grid { stroke-opacity: 0.2; }
  .mode0 { color: #0b6a74; } .mode1 { color: #b0541a; } .mode2 { color: #6a3fa0; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16191b; color: #ddd; }
    .mode0 { color: #6ccbd4; } .mode1 { color: #f0a36b; } .mode2 { color: #c3a2f0; }
  }`

const xOf = (relevance: number) => Math.round(LEFT + relevance * (RIGHT - LEFT))
const yOf = (share: number) => Math.round(BOTTOM - share * (BOTTOM - TOP))

/** The share of useful lines by relevance, as an SVG. A point grows with the number of its lines. */
export function calibrationPlot(byMode: ReadonlyMap<string, Figures>): string {
  const { relevanceThreshold } = defaultMemoryConfig
  const threshold = xOf(relevanceThreshold)
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((value) => [
    `<path class="grid" d="M${LEFT} ${yOf(value)}H${RIGHT}"/>`,
    `<text x="${LEFT - 8}" y="${yOf(value) + 4}" text-anchor="end">${value * 100} %</text>`,
    `<text x="${xOf(value)}" y="${BOTTOM + 20}" text-anchor="middle">${value}</text>`,
  ])
  const curves = [...byMode].flatMap(([mode, figures], index) => {
    const points = Array.from({ length: 10 }, (_, decile) => {
      const lines = linesOf(figures, decile)
      const useful = lines.filter(({ isUseful }) => isUseful).length
      return { x: xOf((decile + 0.5) / 10), y: yOf(useful / lines.length), count: lines.length }
    }).filter(({ count }) => count > 0)
    const legend = LEFT + 100 * index
    return [
      `<g class="mode${index}" stroke-width="2" stroke-dasharray="${DASHES[index]}">`,
      `<path d="M${points.map(({ x, y }) => `${x} ${y}`).join('L')}"/>`,
      ...points.map(
        ({ x, y, count }) => `<circle cx="${x}" cy="${y}" r="${Math.ceil(Math.sqrt(count) / 2)}"/>`,
      ),
      `<path d="M${legend} 20h26"/><text x="${legend + 32}" y="24">${mode}</text></g>`,
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400">
<title>Share of useful lines by relevance</title>
<style>${STYLE}</style>
${ticks.join('\n')}
<path d="M${threshold} ${TOP}V${BOTTOM}"/><text x="${threshold + 6}" y="${TOP + 14}">threshold ${relevanceThreshold}</text>
${curves.join('\n')}
<text x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 44}" text-anchor="middle">relevance of a line</text>
<text transform="translate(14 ${(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">useful lines</text>
</svg>
`
}
