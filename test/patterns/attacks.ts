import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Stand-ins for a character class, which uses the first few that it accepts. */
const ALPHABET = [...' aé,1-\'".A\n(_:/<今=!@#*[{`\u0301']
const CHARS_PER_CLASS = 3
const SAMPLES_PER_NODE = 6
/** A quantifier with a lower maximum cannot be slow. */
const UNBOUNDED = 30
/** Prefixes for a position at the start of a line or elsewhere. */
const BEGINNINGS = ['', '\u0000']
/** Suffixes that make a match fail at its end. */
const ENDINGS = ['', '\n\u0000\n\u0000', ' \t!,"\')]}>x0\u0000']

/** A hostile text; the pump is its repeated part. */
export type Attack = { readonly beginning: string; readonly pump: string; readonly ending: string }

/** The hostile text, about `chars` characters long. */
export const textOf = ({ beginning, pump, ending }: Attack, chars: number): string =>
  beginning + pump.repeat(Math.ceil(chars / pump.length)) + ending

/**
 * Texts that may make a backtracking engine slow. Each repeats one unbounded part of the pattern, after a
 * matching prefix and before a suffix that makes the match fail.
 */
export function attacksOn(pattern: RegExp): Attack[] {
  const {
    pattern: parsed,
    flags: { raw: flags },
  } = new RegExpParser().parseLiteral(String(pattern))
  if (!hasRepetition(parsed)) return []
  const attacks = new Map<string, Attack>()
  const add = (prefix: string, pump: string) => {
    if (pump === '') return
    for (const beginning of BEGINNINGS)
      for (const ending of ENDINGS) {
        const attack = { beginning: beginning + prefix, pump, ending }
        attacks.set(JSON.stringify(attack), attack)
      }
  }
  const classFlags = flags.replace(/[gyd]/g, '')

  function visit(alternatives: readonly AST.Alternative[], before: string, after: string): void {
    for (const { elements } of alternatives) {
      let least = ''
      for (const [index, element] of elements.entries()) {
        const upToHere = samplesOfSequence(elements.slice(0, index + 1), classFlags)
        if (element.type === 'Quantifier' && element.max >= UNBOUNDED) {
          const pumps =
            element.element.type === 'Group'
              ? alternativesOf(element.element, classFlags)
              : samplesOf(element.element, classFlags)
          const rest = samplesOfSequence(elements.slice(index + 1), classFlags)[0] + after
          for (const pump of [...pumps, pumps.join(''), pumps[0] + rest]) add(before + least, pump)
          for (const pump of upToHere) add('', before + pump)
        }
        if (element.type === 'Assertion') for (const pump of upToHere) add('', before + pump)
        const inner = element.type === 'Quantifier' ? element.element : element
        if ('alternatives' in inner) {
          const rest = samplesOfSequence(elements.slice(index + 1), classFlags)[0] + after
          visit(inner.alternatives, before + least, rest)
        }
        least += samplesOf(element, classFlags)[0] ?? ''
      }
      for (const pump of samplesOfSequence(elements, classFlags)) add('', before + pump)
    }
  }
  visit(parsed.alternatives, '', '')
  return [...attacks.values()]
}

function hasRepetition(node: AST.Node): boolean {
  if (node.type === 'Quantifier') return node.max >= UNBOUNDED || hasRepetition(node.element)
  if ('alternatives' in node) return node.alternatives.some(hasRepetition)
  return node.type === 'Alternative' && node.elements.some(hasRepetition)
}

/** Samples of each alternative of a repeated group, with and without its optional parts. */
function alternativesOf({ alternatives }: AST.Group, flags: string): string[] {
  return alternatives.flatMap(({ elements }) => samplesOfSequence(elements, flags))
}

/** Some texts that an element accepts on its own. */
function samplesOf(node: AST.Element, flags: string): string[] {
  switch (node.type) {
    case 'Character':
      return [String.fromCodePoint(node.value)]
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass': {
      const accepts = new RegExp(`^${node.raw}$`, flags)
      return [...ALPHABET, ...node.raw].filter((char) => accepts.test(char)).slice(0, CHARS_PER_CLASS)
    }
    case 'Group':
    case 'CapturingGroup':
      return firstOf(node.alternatives.flatMap(({ elements }) => samplesOfSequence(elements, flags)))
    case 'Quantifier': {
      const once = samplesOf(node.element, flags)
      const least = once.map((text) => text.repeat(Math.min(node.min, 40)))
      return firstOf(node.min === 0 ? ['', ...once] : least)
    }
    default:
      return ['']
  }
}

/** Combines the first samples of all elements, then the second ones, and so on. */
function samplesOfSequence(elements: readonly AST.Element[], flags: string): string[] {
  const parts = elements.map((element) => samplesOf(element, flags))
  const variants = Math.max(1, ...parts.map(({ length }) => length))
  return firstOf(
    Array.from({ length: variants }, (_, index) =>
      parts.map((samples) => samples[Math.min(index, samples.length - 1)] ?? '').join(''),
    ),
  )
}

const firstOf = (samples: readonly string[]) => [...new Set(samples)].slice(0, SAMPLES_PER_NODE)
