import { mapTexts } from '../../lib/mask.ts'
import type { ActingContext, Deed, Tool } from '../../model/tool.ts'

/** Masks the results of a tool, which go to the model and into the ledger. */
export function withMaskedResults(tool: Tool, mask: (text: string) => string): Tool {
  const { plan } = tool
  /** The list of choices goes to the model; other details are the owner's to confirm verbatim. */
  const masked = (deed: Deed): Deed => (deed.choices ? { ...deed, detail: mask(deed.detail) } : deed)

  async function run(args: Parameters<Tool['run']>[0], context: ActingContext) {
    const result = await tool.run(args, context)
    const data = mapTexts(result.data ?? {}, mask)
    if (result.ok) return { ...result, data }
    const choice = result.choice && { choice: masked(result.choice) }
    return { ...result, data, message: mask(result.message), ...choice }
  }
  if (!plan) return { ...tool, run }
  return {
    ...tool,
    run,
    async plan(args, context) {
      const planned = await plan(args, context)
      return 'deed' in planned ? { deed: masked(planned.deed) } : planned
    },
  }
}
