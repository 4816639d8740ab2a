import type { InputItem, TextModel, TextRequest } from '../../model/port.ts'
import { estimateTokens } from '../../model/tokens.ts'
import type { Tool } from '../../model/tool.ts'
import { headTokens, inputTokens, itemTokens } from '../../model/within-context.ts'
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

/** What is known of a turn before its conversation is added. */
type Turn = {
  readonly instructions: string
  readonly tools: readonly Tool[]
  readonly model: Pick<TextModel, 'asSent'>
  readonly profile: Profile
}

/** What is left after the instructions, the input and a share for calls and results. */
function roomAfter(input: readonly InputItem[], { instructions, model, profile }: Turn): number {
  const head = headTokens({ instructions, tools: [] }, model)
  return profile.inputTokens - head - TIME_TOKENS - profile.tailTokens - inputTokens(input)
}

function offered(turn: Turn, room: number, tail: readonly InputItem[]) {
  return offerTools(turn.tools, tail, Math.max(LEAST_TOOL_TOKENS, Math.min(turn.profile.toolTokens, room)))
}

/** The tokens left for the conversation before `added`; negative if `added` alone does not fit. */
export function historyRoom(added: readonly InputItem[], turn: Turn): number {
  const { instructions, model } = turn
  const room = roomAfter(added, turn)
  const tools = offered(turn, room, [])
  return room - headTokens({ instructions, ...tools }, model) + headTokens({ instructions, tools: [] }, model)
}

/** The request of a round: its tools, and calls and results that leave room for the answer. */
export function fitRound(
  request: Pick<TextRequest, 'instructions' | 'timezone' | 'isHalted'>,
  input: readonly InputItem[],
  tail: readonly InputItem[],
  turn: Turn,
): Omit<TextRequest, 'now' | 'use'> {
  const tools = offered(turn, roomAfter(input, turn), tail)
  const left =
    turn.profile.contextTokens -
    headTokens({ ...request, ...tools }, turn.model) -
    inputTokens(input) -
    TIME_TOKENS
  const answer = turn.profile.contextTokens - turn.profile.inputTokens
  const fitted = fitItems(tail, left - answer)
  const most = Math.floor(left - inputTokens(fitted) - turn.profile.contextTokens * MARGIN)
  return {
    ...request,
    ...tools,
    input: input.concat(fitted),
    ...(most < ROOMY_ANSWER_TOKENS ? { maxOutputTokens: Math.max(1, most) } : {}),
  }
}

/** Cuts the longest items, as far as all of them then fit. */
export function fitItems(items: readonly InputItem[], tokens: number): readonly InputItem[] {
  let fitted = items
  for (let most = tokens; inputTokens(fitted) > tokens && most >= LEAST_ITEM_TOKENS; most /= 2)
    fitted = items.map((item) => cutItem(item, Math.floor(most)))
  return fitted
}

/** The newest part of a conversation that fits, after its summary. Only where not all of it fits, anything is cut. */
export function fitHistory(
  items: readonly ContextItem[],
  tokens: number,
  { itemTokens: most, capsuleTokens }: Profile,
): readonly ContextItem[] {
  if (inputTokens(items.map(({ item }) => item)) <= tokens) return items
  const isSummary = ({ item }: ContextItem) => item.type === 'inner' && item.label === SUMMARY_LABEL
  const cut = items.map((each) => cutContextItem(each, isSummary(each) ? capsuleTokens * 2 : most))
  const costs = itemTokens(cut.map(({ item }) => item))
  const [first] = cut
  const base = first && (isSummary(first) || first.item.type === 'opaque') ? 1 : 0
  let room = tokens - inputTokens([LEFT_OUT_ITEM.item]) - (base === 1 ? (costs[0] ?? 0) : 0)
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
  if (inputTokens([each.item]) <= tokens) return each
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

/** What the owner is told about a message that does not fit; `room` is what is missing, as a negative number. */
export function tooLongText(needed: number, room: number): string {
  const many = (tokens: number) => tokens.toLocaleString('en')
  return (
    `This message is too long for the model that I use: it has about ${many(needed)} tokens, and ${many(Math.max(0, needed + room))} fit. ` +
    'I have not read it. Send a shorter part of it, or choose a model with a larger context in Settings.'
  )
}
