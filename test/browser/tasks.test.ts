import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { startWholeService } from '../support/service.ts'
import { ASSISTANT, startProvider } from '../tasks/task-harness.ts'
import { useBrowser } from './browser.ts'
import { checkLooks } from './looks.ts'
import { failFirstRequest, visit } from './page.ts'

const browser = useBrowser()

test('hands over a task, shows its live progress, cancels it and runs it again', async () => {
  const service = await startWholeService({
    environment: { COPILOT_COMMAND: ASSISTANT, TASK_ISOLATION: 'auto' },
  })
  const page = await visit(browser(), service, { path: '/tasks' })
  await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
  await checkLooks(page, 'tasks-empty')
  await page.getByRole('button', { name: 'Hand over a task' }).first().click()
  const prompt = await page.locator('dg-task-dialog textarea').boundingBox()
  expect(prompt?.height).toBeGreaterThan(130)
  await page.getByRole('button', { name: 'Hand over', exact: true }).click()
  await page.getByText('Describe what to do.').waitFor()
  await page.getByLabel('Name').fill('Mend the gate')
  await page
    .getByLabel('What the coding assistant should do')
    .fill(
      steps(
        { report: 'postToolUse', payload: { toolName: 'bash', toolArgs: { command: 'npm test' } } },
        { hang: true },
      ),
    )
  await checkLooks(page, 'tasks-dialog')
  await page.getByRole('button', { name: 'Hand over', exact: true }).click()
  const running = page.getByRole('list', { name: 'In progress' }).getByRole('listitem')
  await running.getByText('bash: npm test').waitFor()
  await running.getByText('1 report').waitFor()
  await checkLooks(page, 'tasks-running')
  await page.getByRole('button', { name: 'Cancel Mend the gate' }).click()
  await page.getByRole('button', { name: 'Cancel task' }).click()
  const finished = page.getByRole('list', { name: 'Finished' }).getByRole('listitem')
  await finished.getByText('Cancelled').waitFor()
  await finished.getByRole('button', { name: 'Run again' }).click()
  await running.getByText('bash: npm test').waitFor()
})

test('shows outcomes, fallbacks and delivery attempts, and repeats a failed delivery', {
  tags: ['long'],
}, async () => {
  const { double, environment } = await startProvider()
  const service = await startWholeService({
    environment: { ...environment, COPILOT_COMMAND: ASSISTANT, TASK_ISOLATION: 'auto' },
  })
  const dispatch = (title: string, prompt: string, notify: string) =>
    service.client.post('/api/tasks', { title, prompt, notify })
  double.fail({ type: 'refuse', status: 400, code: 21211 })
  const page = await visit(browser(), service, { path: '/tasks' })
  await dispatch('Water the roof', steps({ print: '<img src=x onerror=alert(1)> wet' }), 'sms')
  const finished = page.getByRole('list', { name: 'Finished' }).getByRole('listitem')
  const roofTask = finished.filter({ hasText: 'Water the roof' })
  await roofTask.getByText('Not delivered by text message (refused); delivered in the chat instead').waitFor()
  await dispatch('Count the sheep', steps({ complain: 'No sheep.' }, { exit: 2 }), 'chat')
  await finished.filter({ hasText: 'Count the sheep' }).getByText('(exit code 2)').waitFor()
  await roofTask.getByRole('button', { name: 'Details' }).click()
  await roofTask.getByText('<img src=x onerror=alert(1)> wet', { exact: true }).waitFor()
  await roofTask.getByText('failed (refused)').waitFor()
  await checkLooks(page, 'tasks-over')
  await roofTask.getByRole('button', { name: 'Deliver again' }).click()
  await roofTask.getByText('Delivered by text message', { exact: true }).waitFor()
  expect(double.messages).toHaveLength(1)
  await page.goto('/')
  await page.getByText('It could not be texted to you.').waitFor()
  await checkLooks(page, 'tasks-timeline')
})

test('offers a retry when tasks cannot be loaded, and says when no assistant is set up', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/tasks?*')
  await page.getByRole('link', { name: 'Tasks' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 500' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  recover()
  await page.getByRole('heading', { name: 'No coding assistant is set up' }).waitFor()
  await checkLooks(page, 'tasks-unconfigured')
})
