//! Endpoints of providers as data.

use toolwright::issue::suggestion;

use super::build_error::BuildError;
#[cfg(feature = "openai-chat")]
use crate::wire::ChatOptions;
use crate::wire::Wire;

/// An endpoint of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name, which becomes [`ModelFacts::provider`](crate::ModelFacts::provider).
    pub name: &'static str,
    /// The API.
    pub wire: Wire,
    /// The base address. Empty where every customer has another one.
    pub base: &'static str,
    /// The environment variable that usually holds the key; empty where none is needed.
    pub key_variable: &'static str,
    /// The header of the key.
    pub key_header: KeyHeader,
    /// The id of the dialect of its tools: a strict one for OpenAI and Azure, a plain one for the others. Another one, such as `anthropic-strict`, is set by `ClientBuilder::with_dialect`. The targets of a project (`[dialects]` in
    /// `toolwright.toml`) have no effect on what is sent.
    pub dialect: &'static str,
}

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    /// As a bearer token in `authorization` (RFC 6750).
    Bearer,
    /// In a header of its own.
    Named(&'static str),
}

/// Servers that take no options beyond those of the API.
#[cfg(feature = "openai-chat")]
const fn chat(
    name: &'static str,
    base: &'static str,
    key_variable: &'static str,
    dialect: &'static str,
) -> Preset {
    let wire = Wire::OpenAiChat(ChatOptions::OTHERS);
    Preset { name, wire, base, key_variable, key_header: KeyHeader::Bearer, dialect }
}

/// All presets.
const PRESETS: &[Preset] = &[
    #[cfg(feature = "openai-chat")]
    Preset {
        wire: Wire::OpenAiChat(ChatOptions::OPENAI),
        ..chat("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "openai-chat-strict")
    },
    #[cfg(feature = "openai-responses")]
    Preset {
        name: "openai-responses",
        wire: Wire::OpenAiResponses,
        base: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        key_header: KeyHeader::Bearer,
        dialect: "openai-responses-strict",
    },
    #[cfg(feature = "anthropic")]
    Preset {
        name: "anthropic",
        wire: Wire::Anthropic,
        base: "https://api.anthropic.com",
        key_variable: "ANTHROPIC_API_KEY",
        key_header: KeyHeader::Named("x-api-key"),
        dialect: "anthropic",
    },
    #[cfg(feature = "gemini")]
    Preset {
        name: "gemini",
        wire: Wire::Gemini,
        base: "https://generativelanguage.googleapis.com/v1beta",
        key_variable: "GEMINI_API_KEY",
        key_header: KeyHeader::Named("x-goog-api-key"),
        dialect: "gemini",
    },
    // Other regions have other addresses.
    #[cfg(feature = "bedrock")]
    Preset {
        name: "bedrock",
        wire: Wire::Bedrock,
        base: "https://bedrock-runtime.us-east-1.amazonaws.com",
        key_variable: "AWS_BEARER_TOKEN_BEDROCK",
        key_header: KeyHeader::Bearer,
        dialect: "bedrock",
    },
    #[cfg(feature = "openai-chat")]
    Preset {
        wire: Wire::OpenAiChat(ChatOptions { cache_key: false, ..ChatOptions::OPENAI }),
        key_header: KeyHeader::Named("api-key"),
        ..chat("azure", "", "AZURE_OPENAI_API_KEY", "openai-chat-strict")
    },
    #[cfg(feature = "openai-chat")]
    Preset {
        // It always reports tokens, and refuses unknown keys and a message of the user behind results (code 3230).
        wire: Wire::OpenAiChat(ChatOptions {
            stream_options: false,
            answer_after_results: true,
            ..ChatOptions::OTHERS
        }),
        ..chat("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral")
    },
    #[cfg(feature = "openai-chat")]
    chat("xai", "https://api.x.ai/v1", "XAI_API_KEY", "xai"),
    #[cfg(feature = "openai-chat")]
    chat("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "openai-chat"),
    #[cfg(feature = "openai-chat")]
    Preset {
        // It refuses thoughts in a question, and only there.
        wire: Wire::OpenAiChat(ChatOptions { thoughts: false, ..ChatOptions::OTHERS }),
        ..chat("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai-chat")
    },
    #[cfg(feature = "openai-chat")]
    chat("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai-chat"),
    #[cfg(feature = "openai-chat")]
    chat("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "moonshot"),
    #[cfg(feature = "openai-chat")]
    chat("ollama", "http://127.0.0.1:11434/v1", "", "ollama"),
    #[cfg(feature = "openai-chat")]
    chat("llamacpp", "http://127.0.0.1:8080/v1", "", "llamacpp"),
    #[cfg(feature = "openai-chat")]
    chat("vllm", "http://127.0.0.1:8000/v1", "", "vllm-xgrammar"),
];

impl Preset {
    /// Iterates over all presets.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        PRESETS.iter()
    }

    /// Returns a preset by its name.
    ///
    /// # Errors
    ///
    /// If there is none; the error names a similar one.
    pub fn find(name: &str) -> Result<&'static Self, BuildError> {
        let found = PRESETS.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| {
            let names = PRESETS.iter().map(|preset| preset.name);
            let help = suggestion(name, names, "there is");
            BuildError::new(format!("there is no preset `{name}`; {help}"))
        })
    }

    /// Returns the environment variable for another base address, such as `OPENAI_BASE_URL`. Presets of one provider share it.
    pub fn base_variable(&self) -> String {
        let provider = self.name.split('-').next().unwrap_or_default();
        format!("{}_BASE_URL", provider.to_ascii_uppercase())
    }
}
