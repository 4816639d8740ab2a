import type { LedgerReader } from '../../../ledger/reader.ts'
import type { InputItem } from '../../model/port.ts'
import { estimateItemTokens } from '../../model/tokens.ts'
import { textWithMedia } from '../turn/sms-text.ts'
import type { Composer } from './composer.ts'
import { guestInstructions } from './guest-instructions.ts'

/** How many earlier texts and call utterances of the same number to include. */
const GUEST_WORDS = 12
/** The share of a context that they may take. */
const GUEST_SHARE = 0.3

/**
 * Composes the input for a guest's text: the persona and the history of this number. Nothing of the owner's
 * is in it, so nothing can be coaxed out.
 */
export function createGuestComposer(options: {
  readonly ledger: LedgerReader
  readonly wordSeqs: (number: string, limit: number) => readonly number[]
}): Composer {
  const { ledger } = options
  return {
    compose(turn, service) {
      const [cause] = ledger.readSeqs([turn.causeSeq])
      if (cause?.type !== 'sms.received' || !cause.body) return null
      const before = options.wordSeqs(cause.body.from, GUEST_WORDS).filter((seq) => seq < cause.seq)
      const said = ledger.readSeqs(before).flatMap((event): InputItem[] => {
        if (event.type === 'sms.received' || event.type === 'call.utterance.heard')
          return event.body ? [{ type: 'message', role: 'guest', text: event.body.text }] : []
        if (event.type === 'sms.sent' || event.type === 'call.reply.spoken')
          return event.body ? [{ type: 'message', role: 'delegate', text: event.body.text }] : []
        return []
      })
      const message = { type: 'message', role: 'guest', text: textWithMedia(cause) } as const
      const size = service.context?.tokens
      const composed = {
        request: {
          instructions: guestInstructions(),
          tools: [],
          timezone: 'UTC',
        },
        input: [...(size ? newestOf(said, size * GUEST_SHARE) : said), message],
        ownWords: [],
        isCueOwn: false,
        foreignSeqs: [cause.seq],
        facts: [],
        proven: [],
        seenSeqs: [],
        past: [],
        baseForm: null,
      }
      return {
        opening: { adaptationIds: [], signalIds: [] },
        gather: async () => composed,
      }
    },
  }
}

/** The newest items that fit. */
function newestOf(items: readonly InputItem[], tokens: number): readonly InputItem[] {
  let left = tokens
  const first = items.findLastIndex((item) => {
    left -= estimateItemTokens(item)
    return left < 0
  })
  return items.slice(first + 1)
}
