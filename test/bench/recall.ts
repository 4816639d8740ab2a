import { parseArgs } from 'node:util'
import { FEATURES, type Weights } from '../../src/memory/recall/features.ts'
import { createRecallRanker } from '../../src/memory/recall/ranker.ts'
import { reportAblation } from './recall-ablation.ts'
import { buildCorpus } from './recall-corpus.ts'
import { type Conversation, type RecallData, readData } from './recall-data.ts'
import { type Example, fitWeights } from './recall-fit.ts'
import {
  ADVERSARIAL,
  askQuestions,
  BUDGETS,
  DEPTHS,
  meanOf,
  type Outcome,
  percentile,
  requestFor,
} from './recall-measure.ts'

/** Questions asked before measuring, because a running service is warm. */
const WARM_UP_QUESTIONS = 50
const SCALES = [5000, 100_000]
const QUESTIONS_BY_TURNS = 50

function main(): void {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      'cross-validate': { type: 'boolean', default: false },
      ablate: { type: 'boolean', default: false },
      scale: { type: 'boolean', default: false },
    },
  })
  if (values.data === undefined) {
    console.error(
      'usage: npm run bench:recall -- --data FILE [--json] [--cross-validate] [--ablate] [--scale]',
    )
    process.exitCode = 2
    return
  }
  const data = readData(values.data)
  const outcomes = data.conversations.flatMap((conversation) => measure(conversation))
  report('The weights as shipped, each conversation its own haystack', outcomes)
  if (values['cross-validate'] || values.ablate) {
    const examples = data.conversations.map(examplesOf)
    if (values['cross-validate'])
      report('Held out: weights fitted to the other conversations', crossValidate(data, examples))
    if (values.ablate) reportAblation(examples, console.log)
  }
  if (values.scale) reportScales(data, SCALES)
  if (values.json) console.log(JSON.stringify(summary(outcomes)))
}

function measure(conversation: Conversation, weights?: Weights): Outcome[] {
  const corpus = buildCorpus(conversation.turns, conversation.speakers[0])
  try {
    const ranker = createRecallRanker({ views: corpus.views, ...(weights && { weights }) })
    for (const { question } of conversation.questions.slice(0, WARM_UP_QUESTIONS))
      ranker.recall(requestFor(conversation, question))
    return askQuestions(conversation, corpus, ranker)
  } finally {
    corpus.close()
  }
}

/** Measures each conversation with weights fitted to all the others. */
function crossValidate({ conversations }: RecallData, examples: readonly (readonly Example[])[]): Outcome[] {
  return conversations.flatMap((conversation, held) => {
    const fitted = fitWeights(examples.filter((_, index) => index !== held).flat(), FEATURES.length)
    const weights = Object.fromEntries(FEATURES.map((feature, index) => [feature, fitted[index] ?? 0]))
    console.log(`  without ${conversation.id}: ${show(weights)}`)
    return measure(conversation, weights as Weights)
  })
}

function examplesOf(conversation: Conversation): Example[] {
  const corpus = buildCorpus(conversation.turns, conversation.speakers[0])
  try {
    const ranker = createRecallRanker({ views: corpus.views })
    const seqOf = new Map(conversation.turns.map(({ id }, index) => [id, corpus.seqs[index]]))
    return conversation.questions.flatMap(({ question, category, evidence }) => {
      const wanted = new Set(evidence.map((id) => seqOf.get(id)).filter((seq) => seq !== undefined))
      if (category === ADVERSARIAL || wanted.size === 0) return []
      const inspected = ranker.inspect(requestFor(conversation, question))
      return [
        {
          rows: inspected.map(({ features }) => features),
          isEvidence: inspected.map(({ seq }) => wanted.has(seq)),
          wanted: wanted.size,
        },
      ]
    })
  } finally {
    corpus.close()
  }
}

/** Reports the latency of the same questions over ledgers of these sizes. */
function reportScales(data: RecallData, sizes: readonly number[]): void {
  const scales = sizes.map((turns) => openScale(data, turns))
  try {
    for (const { ask } of scales) ask(0, WARM_UP_QUESTIONS)
    const outcomes = scales.map((): Outcome[] => [])
    const questions = data.conversations.reduce((sum, conversation) => sum + conversation.questions.length, 0)
    // Alternates between the sizes, so that changes in machine speed affect all of them.
    for (let from = 0; from < questions; from += QUESTIONS_BY_TURNS)
      scales.forEach(({ ask }, index) => {
        outcomes[index]?.push(...ask(from, from + QUESTIONS_BY_TURNS))
      })
    outcomes.forEach((ofScale, index) => {
      console.log(`${sizes[index]} turns, ${ofScale.length} questions`)
      console.log(`  latency ms: ${show(latency(ofScale.map(({ elapsedMs }) => elapsedMs)))}`)
      console.log(`  of that composing: ${show(latency(ofScale.map(({ composingMs }) => composingMs)))}`)
    })
  } finally {
    for (const { close } of scales) close()
  }
}

/** The dialogues repeated up to `turns` turns, each round a month after the last, and all their questions. */
function openScale({ conversations }: RecallData, turns: number) {
  const [first] = conversations
  if (!first) throw new Error('no conversations')
  const all = conversations.flatMap(({ id, speakers, turns }) =>
    turns.map((turn) => ({
      ...turn,
      session: `${id}/${turn.session}`,
      speaker: turn.speaker === speakers[0] ? first.speakers[0] : first.speakers[1],
    })),
  )
  const replicated = Array.from({ length: turns }, (_, index) => {
    const turn = all[index % all.length] ?? first.turns[0]
    if (!turn) throw new Error('no turns')
    const round = Math.floor(index / all.length)
    const at = new Date(Date.parse(turn.at) + round * 30 * 86_400_000).toISOString()
    return { ...turn, id: `${round}/${turn.id}`, session: `${round}/${turn.session}`, at }
  })
  const corpus = buildCorpus(replicated, first.speakers[0])
  const ranker = createRecallRanker({ views: corpus.views })
  const evidence = [replicated[0]?.id ?? '']
  const questions = conversations.flatMap(({ questions }) =>
    questions.map((question) => ({ ...question, evidence })),
  )
  const asked: Conversation = { ...first, turns: replicated, questions }
  return {
    ask: (from: number, to: number) =>
      askQuestions({ ...asked, questions: questions.slice(from, to) }, corpus, ranker),
    close: () => corpus.close(),
  }
}

function report(title: string, outcomes: readonly Outcome[]): void {
  const { recall, withinTokens, latencyMs } = summary(outcomes)
  console.log(`${title} (${outcomes.length} questions)`)
  for (const [category, at] of Object.entries(recall)) console.log(`  ${category}: ${show(at)}`)
  console.log(`  within tokens: ${show(withinTokens)}`)
  console.log(`  latency ms: ${show(latencyMs)}`)
}

function show(figures: Readonly<Record<string, number>>): string {
  return Object.entries(figures)
    .map(([name, figure]) => `${name} ${figure.toFixed(1)}`)
    .join('  ')
}

/** Percentages. Adversarial questions have their own category and do not count towards `overall`. */
function summary(outcomes: readonly Outcome[]) {
  const answerable = outcomes.filter(({ category }) => category !== ADVERSARIAL)
  const categories = [...new Set(outcomes.map(({ category }) => category))].sort()
  const recallOf = (of: readonly Outcome[]) =>
    figures('at', DEPTHS, (index) => percent(of.map(({ atDepth }) => atDepth[index] ?? 0)))
  return {
    recall: {
      overall: recallOf(answerable),
      ...Object.fromEntries(
        categories.map((category) => [
          category,
          recallOf(outcomes.filter((each) => each.category === category)),
        ]),
      ),
    },
    withinTokens: figures('t', BUDGETS, (index) =>
      percent(answerable.map(({ withinTokens }) => withinTokens[index] ?? 0)),
    ),
    latencyMs: latency(outcomes.map(({ elapsedMs }) => elapsedMs)),
  }
}

function latency(elapsed: readonly number[]) {
  return { p50: rounded(percentile(elapsed, 0.5)), p99: rounded(percentile(elapsed, 0.99)) }
}

function figures(prefix: string, numbers: readonly number[], figureOf: (index: number) => number) {
  return Object.fromEntries(numbers.map((number, index) => [`${prefix}${number}`, figureOf(index)]))
}

function percent(shares: readonly number[]): number {
  return rounded(meanOf(shares) * 100)
}

function rounded(figure: number): number {
  return Math.round(figure * 100) / 100
}

main()
