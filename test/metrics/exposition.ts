/** Samples by name and labels, as they are written. */
export type Exposition = {
  readonly samples: ReadonlyMap<string, number>
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>
  /** Each label with its values. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|Nan|NaN)$/i

/** Parses the text format of Prometheus. Throws on anything that it does not allow, and on repeated samples. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, { type: string; help: string }>()
  const samples = new Map<string, number>()
  const labels = new Map<string, Set<string>>()
  const helps = new Map<string, string>()
  let current = ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (helps.has(name)) throw new Error(`two HELP lines for ${name}`)
      helps.set(name, rest)
    } else if (kind === 'TYPE') {
      const help = helps.get(name)
      if (help === undefined) throw new Error(`no HELP before ${line}`)
      if (families.has(name)) throw new Error(`two TYPE lines for ${name}`)
      if (!/^(?:counter|gauge|histogram)$/.test(rest)) throw new Error(`not a type: ${line}`)
      families.set(name, { type: rest, help })
      current = name
    } else {
      const [, sample = '', inBraces = '', value = ''] = SAMPLE.exec(line) ?? []
      if (!NUMBER.test(value)) throw new Error(`not a sample: ${line}`)
      const isPart = families.get(current)?.type === 'histogram' && /_(?:bucket|sum|count)$/.test(sample)
      if ((isPart ? sample.replace(/_(?:bucket|sum|count)$/, '') : sample) !== current)
        throw new Error(`${sample} is not under its TYPE`)
      const key = inBraces === '' ? sample : `${sample}{${inBraces}}`
      if (samples.has(key)) throw new Error(`${key} is there twice`)
      samples.set(key, Number(value.replace('Inf', 'Infinity')))
      for (const [, label = '', is = ''] of inBraces.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
        labels.set(label, (labels.get(label) ?? new Set()).add(is))
    }
  }
  return { samples, families, labels }
}
