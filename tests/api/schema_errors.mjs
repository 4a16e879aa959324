// Reads {document, cases: [{schema, value}]} on stdin, where each schema is a JSON pointer into the OpenAPI document;
// prints a JSON list with the errors of each case. A schema that cannot be compiled ends the program.
//
//     node schema_errors.mjs FOLDER    FOLDER has node_modules with ajv and ajv-formats
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const packages = createRequire(pathToFileURL(`${process.argv[2]}/package.json`))
const Ajv = packages('ajv/dist/2020').default
const addFormats = packages('ajv-formats')

const { document, cases } = JSON.parse(readFileSync(0, 'utf8'))
const ajv = new Ajv({ strict: false, allErrors: true, formats: { int64: true, int32: true, binary: true } })
addFormats(ajv)
ajv.addSchema(document, 'contract')
const compiled = new Map()

function errors({ schema, value }) {
  if (!compiled.has(schema)) compiled.set(schema, ajv.compile({ $ref: `contract#${schema}` }))
  const validate = compiled.get(schema)
  return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`)
}

console.log(JSON.stringify(cases.map(errors)))
