import type * as z from 'zod'
import type { EventOf, NewEvent } from '../../ledger/event.ts'

export type ToolRef = EventOf<'tool.returned'>['facts']['refs'][number]

export type ToolContext = {
  readonly turnId: string
  readonly callId: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner'
  /** The message that the turn answers; null for an activation, which nobody asked for. */
  readonly messageSeq: number | null
  /** Idempotency key, derived from turn and call. */
  readonly key: string
  readonly timezone: string
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** The context of a tool that changes something. Its call has been recorded. */
export type ActingContext = ToolContext & {
  readonly calledSeq: number
  /** Nobody asked for this, and foreign words may have caused it: a text waits for the owner's confirmation. */
  readonly isDoubtful?: boolean
}

/** The part of a fact's envelope that says what asked for it, and where. */
export type Origin = Pick<
  NewEvent,
  'channel' | 'conversationId' | 'spanId' | 'turnId' | 'causedBy' | 'derivedFrom' | 'key'
>

/** The origin of a fact that a tool call causes. */
export function originOf(context: ActingContext): Origin {
  const { channel, conversationId, spanId, turnId, calledSeq, messageSeq, key } = context
  const derivedFrom = messageSeq === null ? [calledSeq] : [messageSeq, calledSeq]
  return { channel, conversationId, spanId, turnId, causedBy: calledSeq, derivedFrom, key }
}

/** Exactly what a call would do. */
export type Deed = {
  /** The subject with its current revision, if it has one. A different subject makes a different deed. */
  readonly subject: string
  /** Arguments that name exactly that subject. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** For the owner: "Delete the note “Trip”". */
  readonly title: string
  /** The text at stake: a prompt. With choices, a list of them for the model. */
  readonly detail: string
  /** The label of the button: "Delete note". */
  readonly verb: string
  /** Seqs of the facts that the deed repeats. */
  readonly derivedFrom: readonly number[]
  /** What the owner chooses from: `memory:` and an id, or `message:` and a seq. The proposal copies no words. */
  readonly choices?: readonly string[]
  /** It only adds to a note, or snoozes or ticks off a reminder that is due: the right to note covers it. */
  readonly isNote?: boolean
}

/** A deed, or a refusal if there is nothing to do. */
export type Planned = { readonly deed: Deed } | { readonly refusal: ToolResult }

/** The result of a tool. `data` goes to the model as JSON; `derivedFrom` lists the facts that it repeats. */
export type ToolResult =
  | {
      readonly ok: true
      readonly data: Readonly<Record<string, unknown>>
      readonly refs?: readonly ToolRef[]
      readonly derivedFrom?: readonly number[]
    }
  | {
      readonly ok: false
      readonly reason: string
      readonly message: string
      /** What the model needs to continue, such as a list of choices. */
      readonly data?: Readonly<Record<string, unknown>>
      readonly derivedFrom?: readonly number[]
      /** Asks the owner to choose. */
      readonly choice?: Deed
    }

/**
 * How far a tool reaches. `free`: it reads, or makes something new. `guarded`: it changes or deletes what the owner
 * has, which can be restored. `consequential`: it runs a program, reaches somebody else, or erases for good.
 */
export type ToolClass = 'free' | 'guarded' | 'consequential'

/**
 * A tool of the delegate. If all tools of a round are `readOnly`, they run in parallel, while their calls are
 * being recorded.
 */
export type Tool<P extends z.ZodObject = z.ZodObject> = {
  readonly name: string
  readonly description: string
  /** The description where the context is small. */
  readonly brief?: string
  readonly parameters: P
  readonly class: ToolClass
  /** Whether a call may run again after a crash left it without an outcome. */
  readonly idempotent: boolean
  /** What its results contain, in words for the owner. */
  readonly reads?: string
  /** Offered first where not all tools fit into the context of the model. */
  readonly everyday?: true
  /** Sends a text message. Texts have a lower limit per turn. */
  readonly texts?: true
  /**
   * Declared by all tools but free ones: they need the owner's authority. Without it a call is planned, shown to
   * the owner and run once they confirm. Planning changes nothing.
   */
  plan?(args: z.output<P>, context: ToolContext): Promise<Planned>
  /** Does what the owner chose from a deed's choices. `askedSeq` is the message that asked for it. */
  choose?(chosen: readonly string[], askedSeq: number | null, context: ActingContext): Promise<ToolResult>
} & (
  | { readonly readOnly: true; run(args: z.output<P>, context: ToolContext): Promise<ToolResult> }
  | { readonly readOnly: false; run(args: z.output<P>, context: ActingContext): Promise<ToolResult> }
)

export function refuse(reason: string, message: string) {
  return { ok: false, reason, message } as const
}

/** Declares a tool with its arguments typed by its parameters. Only a free tool may lack a `plan`. */
export function defineTool<P extends z.ZodObject>(
  tool: Tool<P> &
    (
      | { readonly class: 'free'; readonly plan?: never }
      | { readonly class: Exclude<ToolClass, 'free'>; plan: object }
    ),
): Tool {
  // The cast is safe: arguments reach `run` only through `parameters.parse`.
  return tool as unknown as Tool
}
