import * as z from 'zod'
import type { InputItem, TextModel } from '../../model/port.ts'
import { defineTool, refuse, type Tool } from '../../model/tool.ts'
import { toolTokens } from '../../model/within-context.ts'

const NAME = 'more_tools'
const parameters = z.object({ names: z.array(z.string().max(100)).min(1).max(8) })

/** Opens tools that did not fit into the context, for the rest of the turn. */
export function createMoreTools(tools: ReadonlyMap<string, Tool>): Tool {
  return defineTool({
    name: NAME,
    class: 'free',
    description: 'Opens more tools.',
    parameters,
    idempotent: true,
    readOnly: true,
    async run({ names }) {
      const opened = names.filter((name) => tools.has(name))
      if (opened.length === 0) return refuse('unknown_tool', 'There are no tools of these names.')
      return { ok: true, data: { opened } }
    },
  })
}

const describe = (names: readonly string[]) => ({
  name: NAME,
  description: `If no other tool fits, opens more of them for the next step, by name: ${names.join(', ')}.`,
  parameters,
})

const openedSchema = z.object({ opened: z.array(z.string()) })

/** The tools that were opened in a turn, by its results: calls may be hidden in an opaque item. */
function openedIn(tail: readonly InputItem[]): ReadonlySet<string> {
  return new Set(
    tail.flatMap((item) =>
      item.type === 'tool_result' && item.output.includes('"opened"')
        ? (openedSchema.safeParse(JSON.parse(item.output)).data?.opened ?? [])
        : [],
    ),
  )
}

/** The tools as they are offered: all of them, all in brief, or what fits in brief and a tool that opens the others. */
export function offerTools(
  tools: readonly Tool[],
  tail: readonly InputItem[],
  tokens: number,
): Pick<Parameters<TextModel['respond']>[0], 'tools' | 'isBrief'> {
  if (toolTokens(tools, false) <= tokens) return { tools }
  if (toolTokens(tools, true) <= tokens) return { tools, isBrief: true }
  const opened = openedIn(tail)
  const rank = ({ name, everyday }: Tool) => (opened.has(name) ? 0 : everyday ? 1 : 2)
  let left = tokens - toolTokens([describe(tools.map(({ name }) => name))], true)
  const taken = new Set<Tool>()
  for (const tool of tools.toSorted((a, b) => rank(a) - rank(b))) {
    const needed = toolTokens([tool], true)
    if (needed > left) continue
    left -= needed
    taken.add(tool)
  }
  const others = tools.filter((tool) => !taken.has(tool)).map(({ name }) => name)
  return { tools: [...tools.filter((tool) => taken.has(tool)), describe(others)], isBrief: true }
}
