import type { InputItem, TextModel, TextRequest } from '../../model/port.ts'
import { estimateTokens } from '../../model/tokens.ts'
import type { Tool } from '../../model/tool.ts'
import { estimateInput, headTokens, itemTokens, toolTokens } from '../../model/within-context.ts'
import { offerTools } from '../tools/more-tools.ts'
import { SUMMARY_LABEL } from './capsule.ts'
import type { ContextItem } from './context.ts'
import { cutItem } from './cut.ts'
import type { Adaptation } from './instructions.ts'
import type { Profile } from './profile.ts'

/** The current time, and the date that the first kept message may get. */
const TIME_TOKENS = 160
/** Below this there is nothing left to cut. */
const LEAST_ITEM_TOKENS = 40
const LEAST_TOOL_TOKENS = 250
/** The share of a context that low estimates may take. */
const MARGIN = 0.05
/** Nothing is said about the length of an answer that has this much room. */
const ROOMY_ANSWER_TOKENS = 16_000

const LEFT_OUT =
  'Earlier messages of this conversation are left out here, because they do not fit into the context of this model. search_timeline finds them.'

/** A turn before its conversation is added. */
type Turn = {
  readonly request: Pick<TextRequest, 'instructions' | 'timezone' | 'isHalted'> & {
    readonly tools: readonly Tool[]
  }
  readonly model: Pick<TextModel, 'asSent'>
  readonly profile: Profile
}

/** What is left after the instructions, the input and a share for calls and results. */
function roomAfter(input: readonly InputItem[], { request, model, profile }: Turn): number {
  const head = headTokens({ ...request, tools: [] }, model)
  return profile.requestTokens - head - TIME_TOKENS - profile.tailTokens - estimateInput(input)
}

/** The tools as they are offered beside the input. They give way to a long message. */
function offeredBeside(input: readonly InputItem[], turn: Turn, tail: readonly InputItem[] = []) {
  const most = Math.min(turn.profile.toolTokens, roomAfter(input, turn))
  return offerTools(turn.request.tools, tail, Math.max(LEAST_TOOL_TOKENS, most))
}

/** The tokens left for the conversation before `added`; negative if `added` alone does not fit. */
export function historyRoom(turn: Turn, added: readonly InputItem[]): number {
  const { tools, isBrief } = offeredBeside(added, turn)
  return roomAfter(added, turn) - toolTokens(tools, isBrief)
}

/** The request of a round: its tools, and calls and results that leave room for the answer. */
export function fitRound(
  turn: Turn,
  input: readonly InputItem[],
  tail: readonly InputItem[],
): Omit<TextRequest, 'now' | 'use'> {
  const request = { ...turn.request, ...offeredBeside(input, turn, tail) }
  const { contextTokens, requestTokens: most } = turn.profile
  const left = contextTokens - headTokens(request, turn.model) - estimateInput(input) - TIME_TOKENS
  const fitted = fitItems(tail, left - (contextTokens - most))
  const answer = Math.floor(left - estimateInput(fitted) - contextTokens * MARGIN)
  return {
    ...request,
    input: input.concat(fitted),
    ...(answer < ROOMY_ANSWER_TOKENS ? { maxOutputTokens: Math.max(1, answer) } : {}),
  }
}

/** Cuts the longest items, as far as all of them then fit. */
export function fitItems(items: readonly InputItem[], tokens: number): readonly InputItem[] {
  let fitted = items
  for (let most = tokens; estimateInput(fitted) > tokens && most >= LEAST_ITEM_TOKENS; most /= 2)
    fitted = items.map((item) => cutItem(item, Math.floor(most)))
  return fitted
}

/** The newest part of a conversation that fits, after its summary. Returned unchanged if all of it fits. */
export function fitHistory(
  items: readonly ContextItem[],
  tokens: number,
  { itemTokens: most, capsuleTokens }: Profile,
): readonly ContextItem[] {
  if (estimateInput(items.map(({ item }) => item)) <= tokens) return items
  const isSummary = ({ item }: ContextItem) => item.type === 'inner' && item.label === SUMMARY_LABEL
  const cut = items.map((each) => cutContextItem(each, isSummary(each) ? capsuleTokens * 2 : most))
  const costs = itemTokens(cut.map(({ item }) => item))
  const [first] = cut
  const base = first && (isSummary(first) || first.item.type === 'opaque') ? 1 : 0
  let room = tokens - estimateInput([LEFT_OUT_ITEM.item]) - (base === 1 ? (costs[0] ?? 0) : 0)
  let from = cut.length
  for (let place = cut.length - 1; place >= base; place -= 1) {
    room -= costs[place] ?? 0
    if (room < 0) break
    if (beginsTurn(cut[place])) from = place
  }
  return from <= base ? cut : [...cut.slice(0, base), LEFT_OUT_ITEM, ...cut.slice(from)]
}

const LEFT_OUT_ITEM: ContextItem = {
  item: { type: 'inner', label: 'note', text: LEFT_OUT },
  seqs: [],
  foreign: false,
}

/** A reply or a result says little without what it answers. */
function beginsTurn(each: ContextItem | undefined): boolean {
  return each?.item.type === 'inner' || (each?.item.type === 'message' && each.item.role !== 'delegate')
}

function cutContextItem(each: ContextItem, most: number): ContextItem {
  // What a tool returned can be looked up again.
  const tokens = each.item.type === 'tool_result' ? most / 2 : most
  if (estimateInput([each.item]) <= tokens) return each
  const own = each.own ? { own: cutItem(each.own, tokens) } : {}
  return { ...each, item: cutItem(each.item, tokens), ...own }
}

/** The standing instructions that fit, in their order. */
export function fitStanding(adaptations: readonly Adaptation[], tokens: number): readonly Adaptation[] {
  let left = tokens
  return adaptations.filter(({ title, content }) => {
    const needed = estimateTokens(`## ${title}\n\n${content}`)
    if (needed > left) return false
    left -= needed
    return true
  })
}

/** What the owner is told about a message that does not fit by `lacks` tokens. */
export function tooLongText(needed: number, lacks: number): string {
  const many = (tokens: number) => tokens.toLocaleString('en')
  return (
    `This message is too long for the model that I use: it has about ${many(needed)} tokens, and ${many(Math.max(0, needed - lacks))} fit. ` +
    'I have not read it. Send a shorter part of it, or choose a model with a larger context in Settings.'
  )
}
