import type { ModelService } from '../port.ts'
export function createBuiltinService(): ModelService {
  throw new Error('todo')
}
