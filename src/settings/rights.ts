import type { ToolClass } from '../model/tool.ts'

/** What a way in may do. Each includes the ones before it. */
export const RIGHTS = ['read', 'note', 'change', 'everything'] as const

export type Right = (typeof RIGHTS)[number]

/** The classes of tools that write. Any right may read. */
const REACH: Readonly<Record<Right, readonly ToolClass[]>> = {
  read: [],
  note: ['free'],
  change: ['free', 'guarded'],
  everything: ['free', 'guarded', 'consequential'],
}

/** Whether a right covers a tool of this class that writes. */
export function reaches(right: Right, toolClass: ToolClass): boolean {
  return REACH[right].includes(toolClass)
}
