/** The GSM 03.38 basic set. Characters of its extension count as two. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENDED = '^{}\\[~]|€\f'

const basic = new Set(BASIC)
const extended = new Set(EXTENDED)

/** Units that fit in a single segment, and in each of several. */
const SEVEN_BIT = [160, 153] as const
const SIXTEEN_BIT = [70, 67] as const

/**
 * The number of segments that a text is billed as. A single segment fits 160 characters of GSM 03.38 or 70
 * UTF-16 units, each of several 153 or 67. A character is never split.
 */
export function segmentsOf(text: string): number {
  const characters = [...text]
  const isSevenBit = characters.every((character) => basic.has(character) || extended.has(character))
  const [alone, each] = isSevenBit ? SEVEN_BIT : SIXTEEN_BIT
  const unitsOf = (character: string) => (isSevenBit && extended.has(character) ? 2 : character.length)
  let whole = 0
  let count = 1
  let taken = 0
  for (const character of characters) {
    const units = unitsOf(character)
    whole += units
    if (taken + units > each) {
      count += 1
      taken = 0
    }
    taken += units
  }
  return whole <= alone ? 1 : count
}
