import { answerOf, type ChatModel, ModelError, NO_USAGE, type Use } from '../../model/port.ts'
import type { Tool, ToolContext } from '../../model/tool.ts'
import type { Composed } from '../context/composer.ts'
import { parseArguments } from './tool-runner.ts'
import type { Answer } from './turn-facts.ts'

type ModelCall = Answer['toolCalls'][number]

/** A call with its authority. `foreign`: the model had foreign words before it when it made the call. */
export type JudgedCall = ModelCall & { readonly authorised: boolean; readonly foreign: boolean }

/** Whether the origin of a call of this tool matters. */
export type IsJudged = (tool: Tool | undefined) => boolean

/**
 * Decides which calls have the owner's authority. Calls made from the owner's words alone have it. Otherwise
 * the model is asked again without foreign words. A call that it then repeats on the same subject has
 * authority, and runs with the arguments of the second reading. Foreign words can't cause such a call.
 */
export async function judgeCalls(
  calls: readonly ModelCall[],
  options: {
    readonly tools: ReadonlyMap<string, Tool>
    readonly isJudged: IsJudged
    /** Whether the turn answers a message that the owner typed in the browser. */
    readonly isOwners: boolean
    readonly isForeign: boolean
    /** Asks the model again with the owner's words alone. */
    readonly readAgain: () => Promise<readonly ModelCall[]>
    readonly context: Omit<ToolContext, 'callId' | 'key'>
  },
): Promise<readonly JudgedCall[]> {
  const { tools, isJudged, isOwners, isForeign, context } = options
  const isSecondNeeded = isForeign && calls.some(({ name }) => isJudged(tools.get(name)))
  const second = isSecondNeeded ? await options.readAgain() : []

  /** The subject of the deed; null if there is nothing to do. */
  async function subjectOf({ callId, name, arguments: json }: ModelCall): Promise<string | null> {
    const tool = tools.get(name)
    const args = tool && parseArguments(tool, json)
    if (!isJudged(tool) || !args?.success) return null
    if (!tool?.plan) return ''
    const planned = await tool.plan(args.data, { ...context, callId, key: `plan:${callId}` })
    return 'deed' in planned ? planned.deed.subject : null
  }

  const wishes = await Promise.all(second.map(async (wish) => ({ wish, subject: await subjectOf(wish) })))
  const judged: JudgedCall[] = []
  for (const call of calls) {
    const subject = wishes.length === 0 ? null : await subjectOf(call)
    const index = wishes.findIndex(
      (each) => each.wish.name === call.name && subject !== null && each.subject === subject,
    )
    const [own] = index === -1 ? [] : wishes.splice(index, 1)
    judged.push(
      own
        ? { ...own.wish, callId: call.callId, authorised: true, foreign: false }
        : { ...call, authorised: isOwners && !isForeign, foreign: isForeign },
    )
  }
  return judged
}

/**
 * Sends the request of the round again, with the owner's words. Returns no calls if the model fails. Offers only the
 * tools whose calls are judged, because a model that can look things up first would stop there.
 */
export async function readAgain(
  { request, ownWords }: Pick<Composed, 'request' | 'ownWords'>,
  options: {
    readonly service: Pick<ChatModel, 'text'>
    readonly tools: ReadonlyMap<string, Tool>
    readonly isJudged: IsJudged
    readonly nowMs: () => number
    readonly signal: AbortSignal
    readonly log: { warn(fields: object, message: string): void }
    readonly turnId: string
    readonly use: Use
  },
): Promise<Pick<Answer, 'toolCalls' | 'usage'>> {
  const { service, signal, log, turnId, use } = options
  const now = new Date(options.nowMs()).toISOString()
  const tools = request.tools.filter(({ name }) => options.isJudged(options.tools.get(name)))
  try {
    return await answerOf(service.text.respond({ ...request, tools, use, input: ownWords, now }, signal))
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    log.warn({ err: error, turnId }, 'the second reading failed, so the calls need confirmation')
    return { toolCalls: [], usage: NO_USAGE }
  }
}
