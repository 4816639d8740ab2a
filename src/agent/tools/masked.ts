import { mapTexts } from '../../lib/mask.ts'
import type { ActingContext, Deed, Tool } from '../../model/tool.ts'

/** Masks the results of a tool, which go to the model and into the ledger. */
export function withMaskedResults(tool: Tool, mask: (text: string) => string): Tool {
  async function run(args: Parameters<Tool['run']>[0], context: ActingContext) {
    const result = await tool.run(args, context)
    const data = mapTexts(result.data ?? {}, mask)
    if (result.ok) return { ...result, data }
    const choice = result.choice && { choice: masked(result.choice) }
    return { ...result, data, message: mask(result.message), ...choice }
  }
  /** The list of choices goes to the model; other details are the owner's to confirm verbatim. */
  const masked = (deed: Deed): Deed => (deed.choices ? { ...deed, detail: mask(deed.detail) } : deed)
  const plan: Tool['plan'] = async (args, context) => {
    const planned = await tool.plan?.(args, context)
    if (!planned) throw new Error(`${tool.name} has no plan`)
    return 'deed' in planned ? { deed: masked(planned.deed) } : planned
  }
  return { ...tool, run, ...(tool.plan ? { plan } : {}) }
}
