import type { Composed } from '../../src/agent/context/composer.ts'
import { createPreviews } from '../../src/agent/conversation/previews.ts'
import { createTurnRunner, type TurnRunnerOptions } from '../../src/agent/turn/turn.ts'
import type { ModelService, TextModel } from '../../src/model/port.ts'
import type { Tool } from '../../src/model/tool.ts'

/** A context without content. */
export const nothing: Composed = {
  request: { instructions: '', tools: [], timezone: 'UTC' },
  input: [],
  facts: [],
  proven: [],
  ownWords: [],
  isCueOwn: true,
  foreignSeqs: [],
  seenSeqs: [],
  past: [],
  baseForm: null,
}

type Given = Pick<TurnRunnerOptions, 'append' | 'ledger' | 'turnEventSeqs'> &
  Partial<Omit<TurnRunnerOptions, 'tools'>> & {
    readonly tools?: readonly Tool[]
    readonly opening?: { readonly adaptationIds: readonly string[]; readonly signalIds: readonly string[] }
    readonly gather?: () => Promise<Composed>
  }

/** Runs turns with a model, tools, attached signals and a context of the test's own, and with every right. */
export function turnRunner(text: TextModel, options: Given) {
  const {
    tools = [],
    opening = { adaptationIds: [], signalIds: [] },
    gather = async () => nothing,
    ...given
  } = options
  return createTurnRunner({
    propose: () => Promise.reject(new Error('unexpected proposal')),
    foreignAmong: () => [],
    right: () => 'everything',
    triedBefore: () => [],
    previews: createPreviews(),
    model: () =>
      ({ text, chatModels: () => [{ text, compaction: null }] }) as Partial<ModelService> as ModelService,
    composer: { compose: () => ({ opening, gather }) },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    timezone: () => 'UTC',
    thresholdTokens: () => 1000,
    isSpent: () => false,
    shorten: async () => true,
    shortenReply: async (reply) => reply,
    nowMs: () => 0,
    log: { warn: () => undefined, error: () => undefined },
    onFault: () => undefined,
    ...given,
  })
}
