/** GSM 03.38, the basic set and (as two characters each) its extension: what fits seven bits. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENDED = '^{}\\[~]|€\f'

const basic = new Set(BASIC)
const extended = new Set(EXTENDED)

/**
 * Segments that a text is sent and billed as: 160 characters of seven bits in one, 153 in each of several; with
 * any other character 70 and 67 UTF-16 units.
 */
export function segmentsOf(text: string): number {
  let septets = 0
  for (const character of text) {
    if (basic.has(character)) septets += 1
    else if (extended.has(character)) septets += 2
    else return segments(text.length, 70, 67)
  }
  return segments(septets, 160, 153)
}

function segments(units: number, alone: number, each: number): number {
  return units <= alone ? 1 : Math.ceil(units / each)
}
