import { mapTexts } from '../../lib/mask.ts'
import type { ActingContext, Tool } from '../../model/tool.ts'

/** Masks the results of a tool, which go to the model and into the ledger. */
export function withMaskedResults(tool: Tool, mask: (text: string) => string): Tool {
  async function run(args: Parameters<Tool['run']>[0], context: ActingContext) {
    const result = await tool.run(args, context)
    const data = mapTexts(result.data ?? {}, mask)
    return result.ok ? { ...result, data } : { ...result, data, message: mask(result.message) }
  }
  return { ...tool, run }
}
