import { mapTexts } from '../../lib/mask.ts'
import type { ActingContext, Tool, ToolContext, ToolResult } from '../../model/tool.ts'

type Arguments = Parameters<Tool['run']>[0]

/** Masks the results of a tool, which go to the model and into the ledger. */
export function withMaskedResults(tool: Tool, mask: (text: string) => string): Tool {
  const masked = (result: ToolResult): ToolResult =>
    result.ok
      ? { ...result, data: mapTexts(result.data, mask) }
      : {
          ...result,
          message: mask(result.message),
          ...(result.data ? { data: mapTexts(result.data, mask) } : {}),
        }
  return tool.readOnly
    ? { ...tool, run: async (args: Arguments, context: ToolContext) => masked(await tool.run(args, context)) }
    : {
        ...tool,
        run: async (args: Arguments, context: ActingContext) => masked(await tool.run(args, context)),
      }
}
