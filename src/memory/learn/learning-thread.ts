import { serveFunctions } from '../../storage/serve-functions.ts'
import { learningFunctions } from './learning-functions.ts'

serveFunctions(learningFunctions)
