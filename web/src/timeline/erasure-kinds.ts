import { plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'

const names: Readonly<Record<string, readonly [string, string]>> = {
  message: [msg`message`, msg`messages`],
  reply: [msg`reply`, msg`replies`],
  memory: [msg`memory`, msg`memories`],
  note: [msg`version of a note`, msg`versions of notes`],
  timer: [msg`reminder`, msg`reminders`],
  task: [msg`task entry`, msg`task entries`],
  adaptation: [msg`version of an instruction`, msg`versions of instructions`],
  import: [msg`part of an imported conversation`, msg`parts of imported conversations`],
  summary: [msg`summary of the conversation`, msg`summaries of the conversation`],
  step: [msg`step of work`, msg`steps of work`],
}

/** For example "3 messages". */
export function kindText(kind: string, count: number): string {
  return plural(count, ...(names[kind] ?? [msg`other entry`, msg`other entries`]))
}
