//! Signs requests to Amazon Bedrock with Signature Version 4
//! (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html>).

use std::fmt;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ModelError;

/// The name of the service in signatures.
const SERVICE: &str = "bedrock";

/// The credentials of an AWS account and the region of its endpoint. They are in no `Debug` output.
#[derive(Clone)]
pub struct AwsCredentials {
    /// The id of the access key.
    pub access_key_id: String,
    /// The secret of the access key.
    pub secret_access_key: String,
    /// The token of temporary credentials.
    pub session_token: Option<String>,
    /// The region, such as `eu-west-1`.
    pub region: String,
}

impl AwsCredentials {
    /// Reads the variables of the AWS tools: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, and `AWS_REGION`
    /// or `AWS_DEFAULT_REGION`. Returns nothing unless the key and the region are there.
    pub(super) fn from_variables(read: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self {
            access_key_id: read("AWS_ACCESS_KEY_ID")?,
            secret_access_key: read("AWS_SECRET_ACCESS_KEY")?,
            session_token: read("AWS_SESSION_TOKEN"),
            region: read("AWS_REGION").or_else(|| read("AWS_DEFAULT_REGION"))?,
        })
    }

    /// Returns the base address of Bedrock in the region.
    pub(super) fn base(&self) -> String {
        format!("https://bedrock-runtime.{}.amazonaws.com", self.region)
    }

    /// Adds the headers that sign a `POST` request. All headers that it already has are signed.
    pub(super) fn sign(
        &self,
        url: &Url,
        headers: &mut HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Result<(), ModelError> {
        let token = self.session_token.clone();
        let (id, secret) = (&self.access_key_id, &self.secret_access_key);
        let identity = Credentials::new(id, secret, token, None, "toolwright").into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(SERVICE)
            .time(now)
            .settings(SigningSettings::default())
            .build()
            .map_err(unsigned)?;
        let signed: Vec<_> = headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        let signed = signed.into_iter();
        let request = SignableRequest::new("POST", url.as_str(), signed, SignableBody::Bytes(body));
        let request = request.map_err(unsigned)?;
        let output = sign(request, &parameters.into()).map_err(unsigned)?;
        let (instructions, _) = output.into_parts();
        for header in instructions.into_parts().0 {
            let name = HeaderName::from_bytes(header.name().as_bytes()).map_err(unsigned)?;
            let mut value = HeaderValue::from_str(header.value()).map_err(unsigned)?;
            value.set_sensitive(header.sensitive() || name == "authorization");
            headers.insert(name, value);
        }
        Ok(())
    }
}

fn unsigned(error: impl fmt::Display) -> ModelError {
    ModelError::Unsendable(format!("the request cannot be signed: {error}"))
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AwsCredentials").field("region", &self.region).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use reqwest::Url;
    use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

    use super::AwsCredentials;

    fn credentials(session_token: Option<&str>) -> AwsCredentials {
        AwsCredentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: session_token.map(str::to_owned),
            region: "eu-west-1".to_owned(),
        }
    }

    /// The signatures are those that botocore 1.42 makes for the same requests.
    #[test]
    fn requests_have_the_signature_that_botocore_gives_them() {
        let noon = UNIX_EPOCH + Duration::from_hours(498_780);
        let model = "eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0";
        for (token, names, signature) in [
            (
                None,
                "content-type;host;x-amz-date",
                "c3d3b27891b3ba43d1c677f1ff56cdba97dbaa1583d92d0d991f362c976d0811",
            ),
            (
                Some("a token"),
                "content-type;host;x-amz-date;x-amz-security-token",
                "2952394e4f58308492f0dbfcafe05fcf935a1306f6e90107482e6daa8b58af72",
            ),
        ] {
            let credentials = credentials(token);
            let url = format!("{}/model/{model}/converse-stream", credentials.base());
            let url = Url::parse(&url).unwrap();
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            credentials.sign(&url, &mut headers, br#"{"messages":[]}"#, noon).unwrap();
            assert_eq!(
                headers["authorization"].to_str().unwrap(),
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261125/eu-west-1/bedrock/aws4_request, \
                     SignedHeaders={names}, Signature={signature}"
                )
            );
            assert_eq!(headers["x-amz-date"], "20261125T120000Z");
            assert_eq!(
                headers.get("x-amz-security-token").map(HeaderValue::as_bytes),
                token.map(str::as_bytes)
            );
        }
    }

    #[test]
    fn credentials_are_in_no_debug_output() {
        assert_eq!(
            format!("{:?}", credentials(Some("a token"))),
            r#"AwsCredentials { region: "eu-west-1", .. }"#
        );
    }
}
