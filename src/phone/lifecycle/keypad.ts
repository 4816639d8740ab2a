import type { NewEvent } from '../../../ledger/event.ts'
import { isEqual } from '../../lib/is-equal.ts'
import type { ToolClass } from '../../model/tool.ts'
import type { Attestation } from '../../settings/party.ts'
import { type Right, reaches } from '../../settings/rights.ts'
import type { Settings } from '../../settings/settings.ts'
import type { CallPlace } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'

/** Wrong entries in one call after which no more are taken. */
const MAX_WRONG = 3
/** The longest PIN. A longer entry is wrong anyway. */
const MAX_DIGITS = 12
/** An entry that pauses for longer starts again, so that a stray key does not spoil it. */
const PAUSE_MS = 10_000
/** A key pressed sooner after an offer was pressed twice, or meant for what was said before. */
const OFFER_SETTLES_MS = 1_000

const CONFIRM = '1'
const DECLINE = '2'

/** A proposal made in a call. */
export type OpenProposal = {
  readonly id: string
  readonly title: string
  readonly class: ToolClass
  /** Only the browser can show what to choose from. */
  readonly isChoice: boolean
}

/** The proposals of one call, as its keypad needs them. */
export type CallProposals = {
  /** The newest open proposal of a span. */
  newestIn(spanId: string): OpenProposal | null
  /** Confirms or declines once, in the place of the call. Resolves with the outcome, in words. */
  settleByKey(
    id: string,
    decision: 'confirm' | 'decline',
    place: { readonly conversationId: string; readonly spanId: string },
  ): Promise<string>
}

export type Keypad = ReturnType<typeof createKeypad>

/**
 * The keypad of a call from the owner's number, and what the call may do. A talk in the browser has no keys. A PIN followed by # lifts the call to RIGHTS_CALLS_PIN. Then 1
 * confirms the proposal that was last offered, and 2 declines it. Digits stay in this function: nothing that it
 * records, logs or tells the model contains them.
 */
export function createKeypad(options: {
  readonly place: CallPlace & { readonly conversationId: string }
  readonly attestation: Attestation
  readonly settings: Pick<Settings, 'get'>
  readonly proposals: CallProposals
  readonly append: FactQueue['append']
  /** Whether too many wrong PINs were entered in all calls of a day. */
  readonly pinsAreSpent: () => boolean
  /** Tells the model, as data that can be read out to the caller. `asksReply`: it should speak about it. */
  readonly tell: (text: string, options: { readonly asksReply: boolean }) => void
  readonly onFault: (error: unknown, message: string) => void
  /** Monotonic. */
  readonly nowMs: () => number
}) {
  const { place, settings, proposals } = options
  let entry = { digits: '', atMs: 0 }
  let entries = 0
  let wrong = 0
  let hasSaidClosed = false
  /** The PIN that was accepted. A new one in the settings ends what it lifted. */
  let accepted: string | null = null
  /** The proposal that the model was last told of. A key settles no other. */
  let offered: { readonly id: string; readonly atMs: number } | null = null
  /** The proposal whose hint told the model to ask for the PIN. */
  let hinted: string | null = null

  /** The owner is signed in and has the browser to confirm in, as in the chat. */
  const isTalk = options.attestation === 'session'
  const isLifted = () => accepted !== null && accepted === settings.get('PHONE_PIN')
  const isClosed = () => wrong >= MAX_WRONG || options.pinsAreSpent()
  const isKeyable = (proposal: OpenProposal) =>
    !proposal.isChoice && reaches(settings.get('RIGHTS_CALLS_PIN'), proposal.class)
  const say = (text: string) => options.tell(text, { asksReply: true })
  const sayAll = (...parts: readonly (string | null)[]) =>
    say(parts.filter((part) => part !== null).join(' '))

  function newOffer(): string | null {
    if (isTalk) return null
    const proposal = proposals.newestIn(place.spanId)
    if (!proposal || proposal.id === offered?.id || !isKeyable(proposal)) return null
    if (isLifted()) {
      offered = { id: proposal.id, atMs: options.nowMs() }
      return `${proposal.title}: this waits. You can press 1 on the keypad to do it, or 2 to decline it.`
    }
    if (settings.get('PHONE_PIN') === null || isClosed() || proposal.id === hinted) return null
    hinted = proposal.id
    return `${proposal.title}: to confirm this in the call, first enter your PIN on the keypad, followed by the hash key. Do not say it aloud.`
  }

  /** Resolves once the fact is durable: nothing is lifted before. */
  const record = (type: 'call.pin.accepted' | 'call.pin.refused', entryNumber: number) =>
    options.append([pinFact(type, place, entryNumber)])

  async function enter(digits: string): Promise<void> {
    const pin = settings.get('PHONE_PIN')
    if (pin === null || isClosed()) {
      if (hasSaidClosed) return
      hasSaidClosed = true
      return say(pin === null ? NO_PIN : CLOSED)
    }
    entries += 1
    const number = entries
    if (!isEqual(digits, pin)) {
      wrong += 1
      await record('call.pin.refused', number)
      return say(isClosed() ? CLOSED : 'The PIN was wrong. You can enter it again, followed by the hash key.')
    }
    await record('call.pin.accepted', number)
    accepted = pin
    sayAll('The PIN was right.', newOffer())
  }

  async function settle(decision: 'confirm' | 'decline'): Promise<void> {
    if (!offered || options.nowMs() - offered.atMs < OFFER_SETTLES_MS) return
    const proposal = proposals.newestIn(place.spanId)
    // The rights may have changed since, or a newer proposal may not have been offered yet.
    if (!proposal || proposal.id !== offered.id || !isKeyable(proposal)) return
    offered = null
    const outcome = await proposals.settleByKey(proposal.id, decision, place)
    sayAll(outcome, newOffer())
  }

  function pressed(key: string): Promise<void> | null {
    if (isLifted()) {
      if (key === CONFIRM) return settle('confirm')
      return key === DECLINE ? settle('decline') : null
    }
    const nowMs = options.nowMs()
    const before = nowMs - entry.atMs > PAUSE_MS ? '' : entry.digits
    entry = { digits: /^\d$/.test(key) ? `${before}${key}`.slice(0, MAX_DIGITS + 1) : '', atMs: nowMs }
    return key === '#' && before !== '' ? enter(before) : null
  }

  return {
    press(key: string): void {
      pressed(key)?.catch((error: unknown) => options.onFault(error, 'a key of a call had no effect'))
    },
    /** What the call may do now. */
    right(): Right {
      if (isTalk) return 'everything'
      if (isLifted()) return settings.get('RIGHTS_CALLS_PIN')
      const isAttested = options.attestation === 'full' || options.attestation === 'client'
      return settings.get(isAttested ? 'RIGHTS_CALLS' : 'RIGHTS_CALLS_UNATTESTED')
    },
    /** Tells the model how the caller can confirm the newest proposal, if they can. Call after each tool. */
    offer(): void {
      const text = newOffer()
      if (text !== null) options.tell(text, { asksReply: false })
    },
  }
}

const NO_PIN = 'No PIN is set. The owner can set one in the browser, in the settings.'
const CLOSED = 'The PIN cannot be entered any more for now. What waits can be confirmed in the browser.'

function pinFact(
  type: 'call.pin.accepted' | 'call.pin.refused',
  { callSid, conversationId, spanId, offeredSeq }: CallPlace,
  entryNumber: number,
): NewEvent {
  return {
    type,
    actor: 'owner',
    channel: 'voice',
    conversationId,
    spanId,
    causedBy: offeredSeq,
    key: `call:${callSid}:pin:${entryNumber}`,
    facts: { callSid },
  }
}
