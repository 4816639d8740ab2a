import { plural } from '../design/format.ts'

const names: Readonly<Record<string, readonly [string, string]>> = {
  message: ['message', 'messages'],
  reply: ['reply', 'replies'],
  memory: ['memory', 'memories'],
  note: ['version of a note', 'versions of notes'],
  timer: ['reminder', 'reminders'],
  task: ['task entry', 'task entries'],
  adaptation: ['version of an instruction', 'versions of instructions'],
  summary: ['summary of the conversation', 'summaries of the conversation'],
  step: ['step of work', 'steps of work'],
}

/** For example "3 messages". */
export function kindText(kind: string, count: number): string {
  return plural(count, ...(names[kind] ?? ['other entry', 'other entries']))
}
