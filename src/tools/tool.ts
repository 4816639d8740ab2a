import type * as z from 'zod'
import type { EventOf } from '../../ledger/event.ts'

export type ToolRef = EventOf<'tool.returned'>['facts']['refs'][number]

/** Where and for whom a tool runs. */
export type ToolContext = {
  readonly turnId: string
  readonly callId: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly channel: 'chat' | 'voice' | 'sms' | 'inner'
  /** The owner's message that the turn answers; null for an activation, which has nobody's words behind it. */
  readonly messageSeq: number | null
  /** Derived from turn and call: what a tool makes under this key is made once, however often it runs. */
  readonly key: string
  readonly timezone: string
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** The same for a tool that does something: there is a fact of its call before it does. */
export type ActingContext = ToolContext & { readonly calledSeq: number }

/** What a call would do, to the letter. */
export type Deed = {
  /** What it is done to, as it is now: with its revision where it has one. Another subject is another deed. */
  readonly subject: string
  /** The arguments that name exactly that subject. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** For the owner: "Delete the note “Trip”". */
  readonly title: string
  /** The words at stake: a prompt, a memory. */
  readonly detail: string
  /** The label of the button: "Delete note". */
  readonly verb: string
  /** The facts whose words the deed repeats. */
  readonly derivedFrom: readonly number[]
}

/** A deed, or why there is nothing to be done. */
export type Planned = { readonly deed: Deed } | { readonly refusal: ToolResult }

/** What a tool answers. `data` goes to the model as JSON; `derivedFrom` names the facts whose words it repeats. */
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
      /** What the model needs to go on, such as what can be chosen from. */
      readonly data?: Readonly<Record<string, unknown>>
      readonly derivedFrom?: readonly number[]
    }

/**
 * Something that the delegate can do. Tools of one round run side by side only if all of them are `readOnly`, and
 * then while the facts of their calls are being written.
 */
export type Tool<P extends z.ZodObject = z.ZodObject> = {
  readonly name: string
  readonly description: string
  readonly parameters: P
  /** Whether a call that a crash orphaned may be run again. */
  readonly idempotent: boolean
  /** What its results tell of, in words for the owner. */
  readonly reads?: string
  /** Sends a text message: few of those fit in one turn. */
  readonly texts?: true
  /**
   * Declared by what runs programs, erases, or changes what is there: it takes the owner's authority. Without that a
   * call is planned, shown to the owner, and done once they confirm it. Planning changes nothing.
   */
  plan?(args: z.output<P>, context: ToolContext): Promise<Planned>
} & (
  | { readonly readOnly: true; run(args: z.output<P>, context: ToolContext): Promise<ToolResult> }
  | { readonly readOnly: false; run(args: z.output<P>, context: ActingContext): Promise<ToolResult> }
)

/** Declares a tool; the type of its arguments follows from its parameters. */
export function defineTool<P extends z.ZodObject>(tool: Tool<P>): Tool {
  // Arguments reach `run` only through `parameters.parse`, so the wider type is never used to call it wrongly.
  return tool as unknown as Tool
}
