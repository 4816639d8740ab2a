import { createCallQueries } from '../../../projections/calls.ts'
import { createContextQueries } from '../../../projections/context.ts'
import type { Log } from '../../lib/log.ts'
import { formatLocal } from '../../lib/time.ts'
import { withDataBlockRule } from '../../model/openai/data-block.ts'
import type { ModelId, ModelService } from '../../model/port.ts'
import { BROWSER, isWithheld } from '../../settings/party.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Storage } from '../../storage/storage.ts'
import { answeringModel, type Carriage } from '../carriage.ts'
import { type CallPlace, createCallTurns } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'
import { createGuestMind, GUEST_WORDS } from './guest-mind.ts'
import type { Keypad } from './keypad.ts'
import type { PlacedMind } from './mind.ts'
import { createOwnerMind, type OwnerMindOptions } from './owner-mind.ts'

export type MindOptions = Pick<
  OwnerMindOptions,
  'chain' | 'recall' | 'tools' | 'callTools' | 'sourcesOf' | 'nowMs'
> & {
  readonly storage: Storage
  readonly settings: Settings
  readonly model: () => ModelService
  /** The owner's instructions for the phone; shorter for a text model with a small context. */
  readonly instructions: (options: { readonly isRealtime: boolean }) => string
  /** The ids of those that are standing. */
  readonly adaptationIds: () => readonly string[]
  /** The instructions for a guest who calls. */
  readonly guestInstructions: (options: { ownerIsKnown: boolean }) => string
  /** The events with the words of a guest's number in texts and calls, oldest first. */
  readonly guestWordSeqs: (number: string, limit: number) => readonly number[]
  readonly newId: () => string
  readonly log: Log
}

/** Makes the mind of each call: the owner's with the whole conversation, a guest's with neither data nor tools. */
export function createMinds(
  options: MindOptions & Pick<OwnerMindOptions, 'delimit' | 'onFault'> & { readonly queue: FactQueue },
) {
  const { storage, settings, model, chain, queue, nowMs, onFault } = options
  const { ledger, views } = storage
  const calls = createCallQueries(views)
  const context = createContextQueries(views)
  const voice = () => ({
    voice: settings.get('REALTIME_VOICE'),
    transcriptionModel: model().realtime?.transcription ?? settings.get('TRANSCRIPTION_MODEL'),
  })

  function turnsOf(place: CallPlace, answering: ModelId) {
    const { conversationId } = place
    return createCallTurns({
      place,
      model: answering,
      append: queue.append,
      newId: options.newId,
      nowMs,
      adaptationIds: place.party === 'owner' ? options.adaptationIds() : [],
      contextTokens: () =>
        conversationId === null ? 0 : (context.chain(conversationId)?.contextTokens ?? 0),
      onFault: (error) => onFault(error, 'a turn of a call is not recorded'),
    })
  }

  function capsuleText(conversationId: string): string | null {
    const row = context.capsule(conversationId)
    const [event] = row && !chain.derivesFromBarred(row.seq) ? ledger.readSeqs([row.seq]) : []
    return event?.type === 'context.capsule.written' ? (event.body?.text ?? null) : null
  }

  function ownerInstructions(how: { readonly isRealtime: boolean }): string {
    const timezone = settings.get('TIMEZONE')
    // A session has no clock.
    const present = `The call began ${formatLocal(nowMs(), timezone)} (${timezone}).`
    return `${withDataBlockRule(options.instructions(how))}\n\n${present}`
  }

  return {
    ownerInstructions,
    /** `from` is the caller ID. A guest's call has no keypad. */
    of(place: CallPlace, from: string, keypad: Keypad | null, carriage: Carriage): PlacedMind {
      const mind = mindOf(place, from, keypad, carriage)
      if (carriage.by === 'realtime') return mind
      return {
        ...mind,
        // The instructions depend on the size of the context.
        async plan(signal) {
          await model().context?.learn()
          return mind.plan(signal)
        },
      }
    },
  }

  function mindOf(place: CallPlace, from: string, keypad: Keypad | null, carriage: Carriage): PlacedMind {
    const shared = { place, turns: turnsOf(place, answeringModel(model(), carriage)), queue, ledger, voice }
    const { conversationId } = place
    if (conversationId !== null && keypad) {
      return createOwnerMind({
        ...options,
        ...shared,
        conversationId,
        capsuleText,
        // The caller ID may be forged.
        why:
          from === BROWSER
            ? 'Asked for in a talk in the browser.'
            : `Asked for on the phone, in a call from ${from}.`,
        keypad,
        instructions: () => ownerInstructions({ isRealtime: carriage.by === 'realtime' }),
        timezone: () => settings.get('TIMEZONE'),
      })
    }
    return createGuestMind({
      ...shared,
      wordSeqs: () =>
        isWithheld(from)
          ? calls.wordSeqs(place.callSid, GUEST_WORDS)
          : options.guestWordSeqs(from, GUEST_WORDS),
      instructions: () =>
        options.guestInstructions({ ownerIsKnown: settings.get('OWNER_PHONE_NUMBER') !== null }),
      onTool: (name) =>
        options.log.warn({ tool: name, callSid: place.callSid }, "a guest's call asked for a tool"),
    })
  }
}
