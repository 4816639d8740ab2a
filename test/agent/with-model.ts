import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../src/service.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

/** The whole service with a model double that the test scripts. */
export async function startWithModel(
  modelLimits: ServiceOptions['modelLimits'] = {},
  directory = testDirectory(),
) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const service = await startWholeService({ directory, environment, modelLimits })
  return { double, service }
}
