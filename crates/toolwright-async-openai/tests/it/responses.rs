//! Responses.

use async_openai::types::responses::{
    CreateResponseArgs, EasyInputMessage, InputItem, InputParam, Item, OutputItem,
};
use toolwright_async_openai::responses;
use toolwright_model_stage::Stage;
use toolwright_runtime::Runtime;

use crate::adapters::{cases, registry};
use crate::{client, tools};

/// Asks until the model makes no calls.
async fn run(stage: &Stage, dialect: &str) -> String {
    let registry = registry();
    let tools = tools(&registry, dialect);
    let request = tools.request();
    let (client, runtime) = (client(stage), Runtime::new(registry));
    let mut items = vec![InputItem::EasyMessage(EasyInputMessage::from("Add 1 and 2."))];
    loop {
        let asked = CreateResponseArgs::default()
            .model("gpt-5")
            .input(InputParam::Items(items.clone()))
            .tools(responses::tools(&request).unwrap())
            .build()
            .unwrap();
        let answer = client.responses().create(asked).await.unwrap();
        let mut has_calls = false;
        for item in &answer.output {
            let OutputItem::FunctionCall(theirs) = item else { continue };
            has_calls = true;
            items.push(Item::FunctionCall(theirs.clone()).into());
            let result = match responses::call(&request, theirs) {
                Ok(call) => runtime.call(call).await,
                Err(refused) => *refused,
            };
            items.push(Item::FunctionCallOutput(responses::answer(&result)).into());
        }
        if !has_calls {
            return answer.output_text().unwrap_or_default();
        }
    }
}

#[tokio::test]
async fn a_program_passes_the_cases_of_all_adapters() {
    for dialect in ["openai-responses-strict", "openai-responses"] {
        for case in cases(dialect) {
            let stage = case.stage(dialect).await;
            let end = run(&stage, dialect).await;
            case.check(&stage, &end);
        }
    }
}
