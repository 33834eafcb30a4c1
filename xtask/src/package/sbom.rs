//! The list of linked packages in CycloneDX's JSON, for scanners of vulnerabilities and licences.

use serde_json::json;

use super::product::Product;
use super::third_party::LinkedPackage;

/// Version of the format.
const SPEC_VERSION: &str = "1.5";

/// Returns the document.
pub(super) fn document(product: &Product, packages: &[LinkedPackage]) -> Vec<u8> {
    let component = |package: &LinkedPackage| {
        let LinkedPackage { name, version, licence, .. } = package;
        json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "licenses": [{ "expression": licence }],
        })
    };
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "ghostbench",
                "version": product.version,
                "licenses": [{ "expression": product.licence }],
            },
        },
        "components": packages.iter().map(component).collect::<Vec<_>>(),
    });
    format!("{document:#}\n").into_bytes()
}
