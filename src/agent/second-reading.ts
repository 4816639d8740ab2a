import type { Tool, ToolContext } from '../tools/tool.ts'
import { parseArguments } from './tool-runner.ts'
import type { Answer } from './turn-facts.ts'

type ModelCall = Answer['toolCalls'][number]

/** A call, whether the owner wants it, and whether words of others were before the model when it made the call. */
export type JudgedCall = ModelCall & { readonly authorised: boolean; readonly foreign: boolean }

/**
 * Decides which calls have the owner's authority. Calls made with nothing but the owner's words at hand have it. Where
 * words of others were at hand too, the model is asked again without them: what it then still does to the same subject
 * is the owner's wish, and is done as it was asked for then. Nothing in those words can bring that about.
 */
export async function judgeCalls(
  calls: readonly ModelCall[],
  options: {
    readonly tools: ReadonlyMap<string, Tool>
    /** Whether the turn answers what the owner typed in the browser. */
    readonly isOwners: boolean
    readonly isForeign: boolean
    /** The calls that the model makes when it is given the owner's words alone. */
    readonly readAgain: () => Promise<readonly ModelCall[]>
    readonly context: Omit<ToolContext, 'callId' | 'key'>
  },
): Promise<readonly JudgedCall[]> {
  const { tools, isOwners, isForeign, context } = options
  const needsAuthority = ({ name }: ModelCall) => tools.get(name)?.plan !== undefined
  const isSecondNeeded = isOwners && isForeign && calls.some(needsAuthority)
  const second = isSecondNeeded ? [...(await options.readAgain())] : []

  /** What a call is done to; null where it comes to nothing. */
  async function subjectOf({ callId, name, arguments: json }: ModelCall): Promise<string | null> {
    const tool = tools.get(name)
    const args = tool && parseArguments(tool, json)
    if (!tool?.plan || !args?.success) return null
    const planned = await tool.plan(args.data, { ...context, callId, key: `plan:${callId}` })
    return 'deed' in planned ? planned.deed.subject : null
  }

  const judged: JudgedCall[] = []
  for (const call of calls) {
    const index = needsAuthority(call) ? second.findIndex(({ name }) => name === call.name) : -1
    const [own] = index === -1 ? [] : second.splice(index, 1)
    const subject = own ? await subjectOf(own) : null
    judged.push(
      own && subject !== null && subject === (await subjectOf(call))
        ? { ...own, callId: call.callId, authorised: true, foreign: false }
        : { ...call, authorised: isOwners && !isForeign, foreign: isForeign },
    )
  }
  return judged
}
