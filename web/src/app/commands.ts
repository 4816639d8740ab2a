import type { IconName } from '../design/icon.ts'

/** What the command palette offers. */
export type Command = {
  readonly label: string
  readonly icon: IconName
  /** Other words by which it is found. */
  readonly words?: string
  readonly run: () => unknown
}

/** The commands that contain every typed word, in their order; all of them if nothing is typed. */
export function matching<Each extends Pick<Command, 'label' | 'words'>>(
  commands: readonly Each[],
  query: string,
): readonly Each[] {
  const wanted = query.toLowerCase().split(/\s+/)
  return commands.filter(({ label, words = '' }) => {
    const text = `${label} ${words}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
