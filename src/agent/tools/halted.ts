import { type ActingContext, refuse, type Tool, type ToolContext } from '../../model/tool.ts'

type Args = Parameters<Tool['run']>[0]

const REFUSAL = refuse('halted', 'Not done: Delegate is halted. The owner can release it in the browser.')

/**
 * A tool that does nothing while the delegate is halted, for turns, calls and confirmed proposals alike. It
 * checks again right before it acts.
 */
export function unlessHalted(tool: Tool, isHalted: () => boolean): Tool {
  if (tool.readOnly) return tool
  const { run, plan, choose } = tool
  return {
    ...tool,
    run: async (args: Args, context: ActingContext) => (isHalted() ? REFUSAL : run(args, context)),
    ...(plan && {
      plan: async (args: Args, context: ToolContext) =>
        isHalted() ? { refusal: REFUSAL } : plan(args, context),
    }),
    ...(choose && {
      choose: async (chosen: readonly string[], askedSeq: number | null, context: ActingContext) =>
        isHalted() ? REFUSAL : choose(chosen, askedSeq, context),
    }),
  }
}
