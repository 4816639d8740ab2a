/** A coding assistant whose prompt is a JSON list of steps. It starts and reports like the real one. */
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

export type Step =
  | { readonly print: string }
  | { readonly complain: string }
  | { readonly flood: number }
  | { readonly waitMs: number }
  /** Posts a hook's report, with the given task id or its own. */
  | { readonly report: string; readonly payload?: unknown; readonly taskId?: string }
  /** Runs a hook's script with its name as argument and `told` on standard input. */
  | { readonly hook: string; readonly script: string; readonly told: unknown }
  /** Leaves a process running, in the same group or in one of its own. */
  | { readonly leaveBehind: string; readonly detached?: boolean }
  /** Writes its environment, arguments, pid and directory into a file. */
  | { readonly tellSituation: string }
  | { readonly ignoreTermination: true }
  | { readonly exit: number }
  | { readonly die: NodeJS.Signals }
  | { readonly hang: true }

export const steps = (...all: readonly Step[]): string => JSON.stringify(all)

/** The prompt for these steps, with their words encoded. */
export const hiddenSteps = (...all: readonly Step[]): string =>
  JSON.stringify({ backwards: [...steps(...all)].reverse().join('') })

function stepsIn(prompt: string): readonly Step[] {
  const given = JSON.parse(prompt) as readonly Step[] | { readonly backwards: string }
  return 'backwards' in given ? JSON.parse([...given.backwards].reverse().join('')) : given
}

async function run(step: Step): Promise<void> {
  if ('print' in step) process.stdout.write(step.print)
  else if ('flood' in step)
    await new Promise((resolve) => process.stdout.write('noise '.repeat(step.flood / 6), resolve))
  else if ('complain' in step) process.stderr.write(step.complain)
  else if ('waitMs' in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs))
  else if ('report' in step) {
    await fetch(process.env.DELEGATE_CALLBACK_URL ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        hookType: step.report,
        taskId: step.taskId ?? process.env.DELEGATE_TASK_ID,
        payload: step.payload ?? {},
      }),
    })
  } else if ('hook' in step) {
    const { stderr } = spawnSync('sh', [step.script, step.hook], { input: JSON.stringify(step.told) })
    process.stderr.write(stderr)
  } else if ('leaveBehind' in step) {
    const { detached = false } = step
    const args = ['-e', 'setInterval(() => undefined, 1000)']
    const child = spawn(process.execPath, args, { stdio: 'inherit', detached })
    writeFileSync(step.leaveBehind, String(child.pid))
    child.unref()
  } else if ('tellSituation' in step) {
    const { env, argv, pid } = process
    writeFileSync(step.tellSituation, JSON.stringify({ env, args: argv.slice(2), pid, cwd: process.cwd() }))
  } else if ('ignoreTermination' in step) process.on('SIGTERM', () => undefined)
  else if ('exit' in step) process.exit(step.exit)
  else if ('die' in step) process.kill(process.pid, step.die)
  else await new Promise(() => setInterval(() => undefined, 1000))
}

if (import.meta.main) {
  for (const step of stepsIn(process.argv.at(-1) ?? '[]')) await run(step)
  process.exit(0)
}
